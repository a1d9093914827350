"""A question "is this part satisfiable?" -> one minimal unsatisfiable subset, or all of them with all corrections.

Knows nothing of SGLang: elements are numbers, an oracle answers for sets of them. The oracle must be monotone: what is
added to an unsatisfiable set leaves it unsatisfiable.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

# None when the elements are satisfiable together, else some of them that are not (all of them will do).
Oracle = Callable[[frozenset[int]], "frozenset[int] | None"]


def shrink(refute: Oracle, elements: Iterable[int], first: Collection[int] = ()) -> frozenset[int]:
    """A minimal unsatisfiable subset of ``elements`` (deletion, Chinneck and Dravnieks 1991).

    What stands in ``first`` is tried first, all of it at once and then one by one, so that it is kept only where
    nothing else will do. ``elements`` must be unsatisfiable together.
    """
    core = frozenset(elements)
    core = refute(core) or core
    if len(core.intersection(first)) > 1:
        smaller = refute(core.difference(first))
        core = core if smaller is None else smaller
    needed: set[int] = set()
    while left := sorted(core - needed, key=lambda one: (one not in first, one)):
        smaller = refute(core - {left[0]})
        if smaller is None:
            needed.add(left[0])
        else:
            core = smaller
    return core


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
    first: Collection[int] = (),
    weight: Callable[[int], int] = lambda _: 1,
    most: int = 200,
    seconds: float = 5.0,
) -> Conflicts:
    """All minimal conflicts and corrections (MARCO; Liffiton, Previti, Malik and Marques-Silva 2016).

    Each seed leaves out what weighs least of all that meets every conflict known so far. So a satisfiable seed is
    maximal and need not be grown, and the lightest corrections are found first, whatever limit stops the search.

    Stops at ``most`` sets in all or after ``seconds`` of processor time (so that a busy machine gives no other answer),
    and says so. Sets come smallest first, then in element order.
    """
    until = time.process_time() + seconds
    whole = frozenset(elements)
    cores: list[frozenset[int]] = []
    corrections: list[frozenset[int]] = []
    complete = True
    for left_out in _lightest(cores, corrections, weight):
        if len(cores) + len(corrections) >= most or time.process_time() > until:
            complete = False
            break
        found = refute(whole - left_out)
        if found is None:
            corrections.append(left_out)
        else:
            cores.append(shrink(refute, found, first))
    return Conflicts(tuple(sorted(cores, key=_by_size)), tuple(sorted(corrections, key=_by_size)), complete)


def _by_size(group: frozenset[int]) -> tuple[int, list[int]]:
    return len(group), sorted(group)


def _lightest(
    cores: Sequence[frozenset[int]], corrections: Sequence[frozenset[int]], weight: Callable[[int], int]
) -> Iterator[frozenset[int]]:
    """Sets that meet every core, the lightest first; none holds a correction, so each is minimal (Reiter 1987).

    The lists grow while this runs: a set that was given and is no correction comes again, with what its core asks for.
    """
    start: frozenset[int] = frozenset()
    queue: list[tuple[int, int, tuple[int, ...], frozenset[int]]] = [(0, 0, (), start)]
    seen = {start}
    while queue:
        entry = heapq.heappop(queue)
        weighs, _, _, chosen = entry
        if any(one <= chosen for one in corrections):
            continue
        unmet = next((core for core in cores if not core & chosen), None)
        if unmet is None:
            yield chosen
            heapq.heappush(queue, entry)
            continue
        for element in unmet:
            more = chosen | {element}
            if more not in seen:
                seen.add(more)
                heapq.heappush(queue, (weighs + weight(element), len(more), tuple(sorted(more)), more))
