"""A question "is this part satisfiable?" -> one minimal unsatisfiable subset, or all of them with all corrections.

Knows nothing of SGLang: elements are numbers, an oracle answers for sets of them. The oracle must be monotone: what is
added to an unsatisfiable set leaves it unsatisfiable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

# None when the elements are satisfiable together, else some of them that are not (all of them will do).
Oracle = Callable[[frozenset[int]], "frozenset[int] | None"]
# Elements that hold together in what the oracle last found satisfiable, beyond those it was asked for.
Met = Callable[[], frozenset[int]]


def shrink(refute: Oracle, elements: Iterable[int], order: Sequence[int] = ()) -> frozenset[int]:
    """A minimal unsatisfiable subset of ``elements`` (deletion, Chinneck and Dravnieks 1991).

    Elements early in ``order`` are tried first, so they are kept only where nothing else will do. ``elements`` must be
    unsatisfiable together.
    """
    places = {element: place for place, element in enumerate(order)}
    core = frozenset(elements)
    core = refute(core) or core
    needed: set[int] = set()
    while left := sorted(core - needed, key=lambda one: (places.get(one, len(places)), one)):
        smaller = refute(core - {left[0]})
        if smaller is None:
            needed.add(left[0])
        else:
            core = smaller
    return core


def grow(refute: Oracle, seed: frozenset[int], elements: Sequence[int], met: Met = frozenset) -> frozenset[int]:
    """A maximal satisfiable superset of the satisfiable ``seed`` within ``elements``, taken in their order."""
    refute(seed)
    kept = seed | met()
    for element in elements:
        if element not in kept and refute(kept | {element}) is None:
            kept |= {element} | met()
    return kept


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Minimal unsatisfiable subsets and minimal correction sets; ``complete`` when there are no others."""

    cores: tuple[frozenset[int], ...]
    corrections: tuple[frozenset[int], ...]
    complete: bool


def enumerate_conflicts(
    refute: Oracle,
    elements: Sequence[int],
    *,
    order: Sequence[int] = (),
    met: Met = frozenset,
    most: int = 200,
    seconds: float = 5.0,
) -> Conflicts:
    """All minimal conflicts and corrections (MARCO; Liffiton, Previti, Malik and Marques-Silva 2016).

    Stops at ``most`` sets in all or after ``seconds`` of processor time (so that a busy machine gives no other answer),
    and says so. Sets come smallest first, then in element order.
    """
    until = time.process_time() + seconds
    cores: list[frozenset[int]] = []
    kept: list[frozenset[int]] = []
    complete = True
    for seed in _seeds(elements, cores, kept):
        found = refute(seed)
        if found is None:
            kept.append(grow(refute, seed, elements, met))
        else:
            cores.append(shrink(refute, found, order))
        if len(cores) + len(kept) >= most or time.process_time() > until:
            complete = next(_seeds(elements, cores, kept), None) is None
            break
    whole = frozenset(elements)
    return Conflicts(
        tuple(sorted(cores, key=_by_size)),
        tuple(sorted((whole - one for one in kept), key=_by_size)),
        complete,
    )


def _by_size(group: frozenset[int]) -> tuple[int, list[int]]:
    return len(group), sorted(group)


def _seeds(
    elements: Sequence[int], cores: list[frozenset[int]], kept: list[frozenset[int]]
) -> Iterator[frozenset[int]]:
    """Subsets not yet explored, as large as can be: none holds a known core, none lies within a known kept set.

    The lists grow while this runs; each new seed is sought with all that is in them then.
    """
    while (seed := _unexplored(list(elements), cores, kept)) is not None:
        yield seed


def _unexplored(elements: list[int], cores: list[frozenset[int]], kept: list[frozenset[int]]) -> frozenset[int] | None:
    """A model of the map formula, "in" tried before "out", by depth-first search.

    What is in no core is in: leaving it out meets no clause that it could not meet inside.
    """
    whole = frozenset(elements)
    conflicting = frozenset(element for core in cores for element in core)
    outside = [missing for one in kept if (missing := whole - one) <= conflicting]
    ordered = [one for one in elements if one in conflicting]

    def search(place: int, inside: frozenset[int], barred: frozenset[int]) -> frozenset[int] | None:
        if any(core <= inside for core in cores) or any(missing <= barred for missing in outside):
            return None
        if place == len(ordered):
            return inside
        element = ordered[place]
        found = search(place + 1, inside | {element}, barred)
        return found if found is not None else search(place + 1, inside, barred | {element})

    return search(0, whole - conflicting, frozenset())
