"""A problem -> its constraint graph over what is chosen, and the order to choose in; it alone imports networkx."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import networkx as nx
from networkx.algorithms.approximation import treewidth_min_fill_in

from constraints.tree import names

from .problem import Problem
from .report import Explanation


def supports(problem: Problem) -> dict[str, frozenset[str]]:
    """For each derived name and each constraint (``!0``, ``!1``, ...) the variables its value hangs on."""
    found: dict[str, frozenset[str]] = {variable.name: frozenset((variable.name,)) for variable in problem.variables}
    labelled = [(definition.name, definition.node) for definition in problem.definitions]
    labelled += [(f"!{index}", constraint.node) for index, constraint in enumerate(problem.constraints)]
    for name, node in labelled:
        found[name] = frozenset().union(*(found.get(read, frozenset()) for read in names(node)))
    return found


def constraint_graph(problem: Problem) -> nx.Graph:
    """The primal graph: variables, joined when a constraint hangs on both; an edge counts such constraints."""
    graph = nx.Graph()
    graph.add_nodes_from(variable.name for variable in problem.variables)
    found = supports(problem)
    for index in range(len(problem.constraints)):
        for first, second in combinations(sorted(found[f"!{index}"]), 2):
            weight = graph.edges[first, second]["weight"] + 1 if second in graph[first] else 1
            graph.add_edge(first, second, weight=weight)
    return graph


def width(problem: Problem) -> int:
    """The width of a tree decomposition found by min-fill-in."""
    found, _ = treewidth_min_fill_in(constraint_graph(problem))
    return int(found)


def choice_order(problem: Problem, weights: Mapping[str, int] | None = None) -> tuple[str, ...]:
    """Variables in the order to choose them: those that hold most of the graph together first.

    Each connected part is taken apart at the bags of its tree decomposition from the centre outwards, so that choosing
    along the order separates what is left.
    """
    graph = constraint_graph(problem)
    if not graph:
        return ()
    _, tree = treewidth_min_fill_in(graph)
    order: dict[str, None] = {}
    degree = dict(graph.degree())
    for part in nx.connected_components(tree):
        inner = tree.subgraph(part)
        centre = min(nx.center(inner), key=sorted)
        for bag in nx.bfs_tree(inner, centre):
            for name in sorted(bag, key=lambda one: (-degree[one], one)):
                order[name] = None
    return tuple(order)


def conflict_graph(found: Explanation) -> nx.Graph:
    """The elements of all conflicts, numbered as they are first met; a premise is joined to each rule it breaks.

    A node has ``side`` (premise or rule) and ``element``.
    """
    graph = nx.Graph()
    numbers: dict[str, int] = {}
    for core in found.cores:
        ends: dict[str, list[int]] = {"premise": [], "rule": []}
        for one in core.elements:
            number = numbers.setdefault(repr((one.kind, one.name, one.value)), len(numbers))
            side = "rule" if one.kind == "rule" else "premise"
            graph.add_node(number, side=side, element=one)
            ends[side].append(number)
        graph.add_edges_from((first, second) for first in ends["premise"] for second in ends["rule"])
    return graph
