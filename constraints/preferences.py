"""What can be chosen, what better means, and what others chose: values that ranking reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .tree import Node
from .values import Value


class Term(NamedTuple):
    """One thing a profile looks at: ``node`` gives a number for the effective configuration, larger is better.

    ``joint``: it reads the outcomes of variables.yaml alone, several at once; other flags count as left alone.
    """

    name: str
    weight: int
    about: str
    node: Node
    joint: bool = False


class Profile(NamedTuple):
    """What "better" means: weighted terms, the weight of each flag left where SGLang leaves it, and what is lacking.

    ``warnings`` is taken off for each rule of kind warning that is broken. ``workload``: tokens in, tokens out and
    requests at once that bounds are for when nobody says.
    """

    name: str
    about: str
    closeness: int
    terms: tuple[Term, ...]
    lacks: tuple[str, ...]
    workload: tuple[int, int, int] = (1024, 1024, 64)
    warnings: int = 0


class Choosable(NamedTuple):
    """Flags that are chosen as one.

    ``values`` beside unset (None in a tuple is unset); ``droppable`` the groups that are superfluous together; ``keep``
    is asked of each value on the facts, ``relevant`` of the effective configuration. ``idle``: a flag, and those that
    leave it nothing to do when all of them are typed.
    """

    name: str
    flags: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    droppable: tuple[tuple[str, ...], ...]
    keep: Node | None
    relevant: Node | None
    complete: bool
    idle: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Evidence(NamedTuple):
    """One entry: where it holds (``when`` None: everywhere), which values it is about, and who says so.

    ``purpose`` is what a published deployment is for, ``engines`` the releases it was written for, as its source says.
    """

    id: str
    kind: str
    purpose: str
    about: str
    when: Node | None
    uses: Mapping[str, tuple[Value, ...]]
    sources: tuple[str, ...]
    engines: tuple[str, ...] = ()
