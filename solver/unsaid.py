"""A fact that a rule of a conflict reads -> whether it goes without saying: another fact that is told implies it."""

from __future__ import annotations

from constraints.schema import Rule
from constraints.tree import Compare, Const, Name, Node, children

from .operations import fold_operation
from .pins import Asked


def goes_without_saying(asked: Asked, rule: Rule, name: str) -> bool:
    """Whether a rule asks of a fact no more than that it is there, and it is there with every GPU of the vendor."""
    release = asked.knowledge.releases[asked.knowledge.release]
    if release.images.get(str(asked.facts.get("gpu.vendor")), {}).get(name) is None:
        return False
    known = {other: value for other, value in asked.facts.items() if other != name}
    folded = (fold_operation(one, known) for one in asked.knowledge.program if one.rule.id == rule.id)
    nodes = [node for one in folded if one is not None for node in (one.when, one.require) if node is not None]
    return all(_reads_only_whether_set(node, name) for node in nodes)


def _reads_only_whether_set(node: Node, name: str) -> bool:
    if isinstance(node, Compare) and node.left == Name(name) and node.right == Const(None):
        return True
    return node != Name(name) and all(_reads_only_whether_set(child, name) for child in children(node))
