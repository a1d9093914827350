"""Answers -> pictures, by matplotlib: memory, terms of a score, marginals, conflicts, a matrix. It alone imports it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from ..answers import Recommendation
from ..errors import InputError
from ..estimate.memory import Memory
from ..graph import conflict_graph
from ..marginal import Marginals
from ..matrix import STATES, Matrix
from ..report import CheckReport, Explanation
from .conflict import element
from .matrix_table import groups, title
from .sentence import choice, count, shown, wrapped

_GIB = 1024  # MiB
# Told apart also without colour vision (Okabe and Ito 2008).
BLUE, ORANGE, GREEN, GREY, RED, PURPLE = "#0072B2", "#E69F00", "#009E73", "#BBBBBB", "#D55E00", "#CC79A7"
_CELLS = {"works": GREEN, "changed": BLUE, "only with": PURPLE, "defect": ORANGE, "refused": RED, "absent": GREY}
_HATCHES = ("", "///", "...")
# Values of one choice that are drawn; the others are too rare to see.
MOST_VALUES = 12


def plot(answer: object, kind: str = "") -> Any:
    """A `matplotlib.figure.Figure` of an answer; ``kind`` where there are several.

    Raises InputError for a kind that the answer has not, and where matplotlib is not installed; TypeError for what is
    no answer that can be drawn.
    """
    drawn = next((made for of, made in _KINDS.items() if isinstance(answer, of)), None)
    if drawn is None:
        raise TypeError(f"{type(answer).__name__} is nothing that can be drawn")
    wanted = kind or next(iter(drawn))
    if wanted not in drawn:
        raise InputError(f"there is no plot {kind!r} of this answer", "plot", "Known: " + ", ".join(drawn))
    return drawn[wanted](answer)


def expect_file(path: Path, kind: str = "", of: type | None = None) -> None:
    """Hold the file of a plot, and its kind for an answer of a type, against what can be drawn, before anything is.

    Raises InputError.
    """
    if path.suffix not in (".svg", ".png"):
        raise InputError(f"{path.suffix or 'no ending'} is not drawn", str(path), "Name a file .svg or .png.")
    if not path.absolute().parent.is_dir():
        raise InputError("its folder is not there", str(path), "Make the folder first.")
    if kind and of is not None and kind not in _KINDS[of]:
        raise InputError(f"there is no plot {kind!r} of this answer", "plot_kind", "Known: " + ", ".join(_KINDS[of]))
    if find_spec("matplotlib") is None:
        raise InputError("matplotlib is not installed", "plot", 'pip install "sglang-preflight[plot]"')


def save(figure: Any, path: Path) -> None:
    """The figure as a file, the same bytes for the same figure.

    Raises InputError for a kind of file that is not drawn.
    """
    expect_file(path)
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "preflight"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None}, dpi=120)


def png(figure: Any) -> bytes:
    """The figure for a notebook."""
    out = BytesIO()
    figure.savefig(out, metadata={"Software": None}, dpi=90)
    return out.getvalue()


def _figure(width: float, height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("matplotlib is not installed", "plot", 'pip install "sglang-preflight[plot]"') from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _memory(found: Recommendation) -> Any:
    bars = [(f"{one.rank}", one.memory) for one in found.solutions if one.memory is not None]
    if not bars:
        raise InputError("the sizes of this model are not known", "plot")
    return _memory_bars(bars, f"Memory of one {found.subject.gpu}, by rank of the configuration")


def _memory_of(found: CheckReport) -> Any:
    if found.memory is None:
        raise InputError("the sizes of this model are not known, or were not asked for", "plot")
    return _memory_bars([("", found.memory)], f"Memory of one {found.subject.gpu}")


def _memory_bars(bars: Sequence[tuple[str, Memory]], said: str) -> Any:
    """Weights, cache and the rest of each GPU; the line in the cache is the interval of its end."""
    figure, axes = _figure(8, 1.1 + 0.45 * len(bars))
    for row, (_, memory) in enumerate(bars):
        weights, pool = memory.weights.likely / _GIB, max(memory.pool.likely, 0) / _GIB
        rest = max(memory.gpu / _GIB - weights - pool, 0)
        start = 0.0
        for part, (size, colour) in enumerate(((weights, BLUE), (pool, GREEN), (rest, GREY))):
            label = ("weights", "KV cache", "reserve: graphs, activations, CUDA")[part] if row == 0 else None
            axes.barh(row, size, left=start, color=colour, label=label, height=0.7)
            if size > memory.gpu / _GIB * 0.07:
                axes.text(
                    start + size / 2, row, f"{size:.1f}", ha="center", va="center", fontsize=8, color=_ink(colour)
                )
            start += size
        ends = [weights + max(bound, 0) / _GIB for bound in (memory.pool.least, memory.pool.most)]
        axes.plot(ends, [row, row], color="black", linewidth=1.2, marker="|", markersize=8)
        axes.axvline(memory.gpu / _GIB, color="black", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.invert_yaxis()
    axes.set_xlabel("GiB (the black line: least to most of the cache)")
    axes.set_title(said, loc="left", fontsize=10)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def _terms(found: Recommendation) -> Any:
    """What each term adds to the score of each configuration."""
    figure, axes = _figure(8, 1.2 + 0.45 * len(found.solutions))
    names = sorted({name for one in found.solutions for name in one.terms})
    palette = (BLUE, GREEN, ORANGE, PURPLE, RED, GREY)
    # More terms than colours: the colours again, hatched.
    looks = {
        name: {"color": palette[place % len(palette)], "hatch": _HATCHES[place // len(palette) % len(_HATCHES)]}
        for place, name in enumerate(names)
    }
    for row, one in enumerate(found.solutions):
        ends = {True: 0.0, False: 0.0}
        for name in names:
            points = one.terms.get(name, 0)
            label = name if row == 0 else None
            axes.barh(row, points, left=ends[points >= 0], label=label, height=0.7, edgecolor="white", **looks[name])
            ends[points >= 0] += points
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(found.solutions)), [str(one.rank) for one in found.solutions])
    axes.invert_yaxis()
    axes.set_xlabel(f"points by profile {found.profile}")
    axes.set_title("What makes the score of each configuration", loc="left", fontsize=10)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def _pareto(found: Recommendation) -> Any:
    """Each configuration by two terms, and the front: what no other one that is shown beats in both."""
    across, up = _two_terms(found)
    spots: dict[tuple[int, int], list[int]] = {}
    for one in found.solutions:
        spots.setdefault((one.terms.get(across, 0), one.terms.get(up, 0)), []).append(one.rank)
    front = sorted(spot for spot in spots if not any(_beats(other, spot) for other in spots))
    figure, axes = _figure(7, 4.2)
    axes.plot([x for x, _ in front], [y for _, y in front], color=BLUE, linewidth=1.4, zorder=1, label="front")
    for spot, ranks in spots.items():
        axes.plot(*spot, marker="o", markersize=8, color=BLUE if spot in front else GREY, zorder=2)
        said = ", ".join(map(str, ranks[:4])) + (", ..." if len(ranks) > 4 else "")
        axes.annotate(said, spot, textcoords="offset points", xytext=(7, 5), fontsize=8)
    axes.margins(0.12)
    axes.set_xlabel(f"{across}, points")
    axes.set_ylabel(f"{up}, points")
    axes.set_title(f"Configurations by rank, profile {found.profile}: up and right is better", loc="left", fontsize=10)
    return figure


def _two_terms(found: Recommendation) -> tuple[str, str]:
    """Those whose front was asked for, else those in which the configurations differ most."""
    if len(found.front) > 1:
        return found.front[0], found.front[1]
    spread: dict[str, int] = {}
    for name in {name for one in found.solutions for name in one.terms}:
        points = [one.terms.get(name, 0) for one in found.solutions]
        spread[name] = max(points) - min(points)
    differing = sorted((name for name in spread if spread[name]), key=lambda name: (-spread[name], name))
    if len(differing) < 2:
        raise InputError(
            "these configurations do not differ in two terms",
            "plot",
            "Ask for two terms: --pareto TERM,TERM, in Python front=.",
        )
    first, second = sorted(differing[:2])
    return first, second


def _beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and one[0] >= other[0] and one[1] >= other[1]


def _marginals(found: Marginals) -> Any:
    """For each choice the share of the configurations that hold each value."""
    names = [name for name, values in found.choices.items() if len(values) > 1]
    figure, axes = _figure(9, 1 + 0.46 * max(len(names), 1))
    palette = (BLUE, ORANGE, GREEN, PURPLE, RED, GREY)
    for row, name in enumerate(names):
        start = 0.0
        ordered = sorted(found.choices[name].items(), key=lambda one: -one[1])[:MOST_VALUES]
        for place, (value, number) in enumerate(ordered):
            share = 100 * number / found.count
            colour = palette[place % len(palette)]
            axes.barh(row, share, left=start, color=colour, edgecolor="white", height=0.75)
            text, size = _fitting(choice(value), share)
            axes.text(start + share / 2, row, text, ha="center", va="center", fontsize=size, color=_ink(colour))
            start += share
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("percent of the configurations that hold")
    axes.set_title(f"What {count(found.count)} configurations type", loc="left", fontsize=10)
    return figure


def _fitting(text: str, share: float) -> tuple[str, int]:
    """A label for so many percent of the width, and its size: in up to three lines, or none."""
    if share > 1.1 * len(text):
        return text, 7
    lines = [""]
    for part in re.split(r"(?<=[_ ,])", text):
        if lines[-1] and len(lines[-1] + part) > share / 0.95:
            lines.append("")
        lines[-1] += part
    lines = [line.rstrip() for line in lines]
    return "\n".join(lines) if len(lines) <= 3 and max(map(len, lines)) <= share / 0.95 else "", 6


def _ink(colour: str) -> str:
    return "white" if colour == BLUE else "black"


def _conflicts(found: Explanation) -> Any:
    """What was asked and what is so on the left, the rules that they meet on the right."""
    graph = conflict_graph(found)
    if not graph:
        raise InputError("there is no conflict to draw", "plot")
    sides: Mapping[str, list[int]] = {
        side: [node for node, data in graph.nodes(data=True) if data["side"] == side] for side in ("premise", "rule")
    }
    rows = max(len(nodes) for nodes in sides.values())
    figure, axes = _figure(10, 1 + 0.75 * rows)
    spots = {
        node: (x, (rows - 1) * (place + 0.5) / len(nodes))
        for x, nodes in ((0.0, sides["premise"]), (1.0, sides["rule"]))
        for place, node in enumerate(nodes)
    }
    for first, second in graph.edges:
        (x, y), (a, b) = sorted((spots[first], spots[second]))
        axes.plot([x, a], [y, b], color=GREY, linewidth=1.4, zorder=1)
    colours = {"pin": BLUE, "fact": GREEN, "rule": RED, "default": ORANGE, "release": PURPLE}
    for node, data in graph.nodes(data=True):
        one = data["element"]
        x, y = spots[node]
        axes.plot([x], [y], marker="o", markersize=9, color=colours[one.kind], zorder=2)
        text = wrapped(element(one), width=38)
        side = "right" if x == 0 else "left"
        axes.text(x + (-0.03 if x == 0 else 0.03), y, text, ha=side, va="center", fontsize=8)
    axes.set_xlim(-0.95, 1.95)
    axes.set_ylim(rows - 0.4, -0.6)
    axes.axis("off")
    axes.set_title("What was asked and what is so, and the rules they break together", loc="left", fontsize=10)
    return figure


def _heatmap(found: Matrix) -> Any:
    """A square for each value and each group of columns that are alike."""
    parts = groups(found.columns)
    figure, axes = _figure(3.4 + 0.45 * len(parts), 1.4 + 0.26 * len(found.values))
    for x, group in enumerate(parts):
        for y, cell in enumerate(group.columns[0].cells):
            axes.barh(y, 0.94, left=x - 0.47, height=0.88, color=_CELLS[cell.state])
    for state in STATES:
        axes.barh(0, 0, color=_CELLS[state], label=state)
    axes.set_yticks(range(len(found.values)), [shown(value) for value in found.values], fontsize=8)
    names = [group.title + (" *" if group.columns[0].blocked else "") for group in parts]
    axes.set_xticks(range(len(parts)), names, rotation=90, fontsize=8)
    if any(group.columns[0].blocked for group in parts):
        axes.set_xlabel("* nothing starts there, whatever the value", fontsize=8)
    axes.set_xlim(-0.5, len(parts) - 0.5)
    axes.set_ylim(len(found.values) - 0.5, -0.5)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(wrapped(title(found), width=24 + 6 * len(parts)), loc="left", fontsize=9)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


_KINDS: dict[type, dict[str, Callable[[Any], Any]]] = {
    Recommendation: {"memory": _memory, "terms": _terms, "pareto": _pareto},
    CheckReport: {"memory": _memory_of},
    Explanation: {"conflicts": _conflicts},
    Marginals: {"marginals": _marginals},
    Matrix: {"matrix": _heatmap},
}
