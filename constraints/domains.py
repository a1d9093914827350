"""The knowledge of one release -> the values each flag can ever have: its choices, its default, what rules write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .knowledge import Knowledge
from .tree import Call, Choice, Const, Name, Node
from .values import Value, same

Domain = tuple[Value, ...] | None


def domains(knowledge: Knowledge) -> Mapping[str, Domain]:
    """The domain of each flag and derived value; None: any value, since no list bounds it."""
    found: dict[str, Domain] = {}
    for name, flag in knowledge.flags.items():
        if flag.type == "bool":
            found[name] = (True, False, None)
        else:
            found[name] = None if flag.choices is None else tuple(dict.fromkeys((*flag.choices, flag.default, None)))
    writes = [write for rule in knowledge.rules.values() for case in rule.cases for write in case.writes]
    changed = True
    while changed:  # a flag may take another's value, which may take another's
        changed = False
        for target, node in writes:
            before = found.get(target)
            if before is None:
                continue
            more = _values(node, found)
            fresh = [value for value in more or () if not any(same(value, one) for one in before)]
            if more is None or fresh:
                found[target] = None if more is None else (*before, *fresh)
                changed = True
    return found


def _values(node: Node, found: Mapping[str, Domain]) -> Domain:
    """The values a tree can give; None: any."""
    gathered: list[Value] = []
    for leaf in _leaves(node):
        if isinstance(leaf, Const):
            gathered.append(leaf.value)
        elif isinstance(leaf, Name) and (inner := found.get(leaf.name.removeprefix("typed."))) is not None:
            gathered.extend(inner)
        else:
            return None
    return tuple(gathered)


def _leaves(node: Node) -> Iterator[Node]:
    if isinstance(node, Choice):
        yield from _leaves(node.then)
        yield from _leaves(node.otherwise)
    elif isinstance(node, Call) and node.function == "either":
        for argument in node.arguments:
            yield from _leaves(argument)
    else:
        yield node
