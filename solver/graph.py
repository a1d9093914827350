"""An explanation -> the graph of its conflicts; it alone imports networkx."""

from __future__ import annotations

import networkx as nx

from .report import Explanation


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
