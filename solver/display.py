"""Answers as a person meets them in Python: `show`, `to_frame`, `plot`, and rich display in notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import InputError

# The answers by the module that holds them: they are displayed without being imported before.
ANSWERS = {
    "solver.report": ("CheckReport", "Explanation"),
    "solver.answers": ("Diagnosis", "Recommendation", "Survey"),
    "solver.matrix": ("Matrix",),
    "solver.marginal": ("Marginals",),
}


class Shown(str):
    """The text of an answer; a notebook shows its table."""

    __slots__ = ("_answer",)
    _answer: object

    def __new__(cls, text: str, answer: object) -> Shown:
        made = super().__new__(cls, text)
        made._answer = answer
        return made

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from .render.rich_html import as_html

        return as_html(self._answer)

    def _repr_markdown_(self) -> str:
        from .render.rich_html import as_markdown

        return as_markdown(self._answer)


def show(answer: object) -> Shown:
    """An answer as the command line would print it; TypeError for what is no answer."""
    from .render.rich_html import as_text

    return Shown(as_text(answer), answer)


def to_frame(answer: object) -> Any:
    """The rows of an answer as a `pandas.DataFrame`: its configurations, findings, ways out, places or cells.

    Raises InputError where pandas is not installed; TypeError for what is no answer.
    """
    from .render.rows import rows

    try:
        import pandas
    except ImportError:
        raise InputError("pandas is not installed", "to_frame", 'pip install "sglang-preflight[notebook]"') from None
    return pandas.DataFrame(rows(answer))


class Picture:
    """A drawn answer: a notebook shows it, `save` writes it, ``figure`` is matplotlib's."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def save(self, path: Path | str) -> None:
        """Write it as ``.svg`` or ``.png``.

        Raises InputError for another ending.
        """
        from .render.plot import save

        save(self.figure, Path(path))

    def _repr_png_(self) -> bytes:
        from .render.plot import png

        return png(self.figure)


def plot(answer: object, kind: str = "") -> Picture:
    """An answer as a picture: its memory, terms, marginals, conflicts or cells.

    ``kind`` is ``memory``, ``terms`` or ``pareto`` for a recommendation.

    Raises InputError where there is none, or matplotlib is not installed; TypeError for what cannot be drawn.
    """
    from .render.plot import plot

    return Picture(plot(answer, kind))


def register() -> None:
    """Let a running notebook or IPython shell display answers; nothing elsewhere."""
    shell_of = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = shell_of() if shell_of is not None else None
    if shell is None:
        return
    forms: dict[str, Callable[[object], str]] = {"text/html": _html, "text/markdown": _markdown}
    formatters = shell.display_formatter.formatters
    for module, names in ANSWERS.items():
        for name in names:
            for form, made in forms.items():
                formatters[form].for_type_by_name(module, name, made)
            formatters["text/plain"].for_type_by_name(module, name, _plain)


def _html(answer: object) -> str:
    return show(answer)._repr_html_()


def _markdown(answer: object) -> str:
    return show(answer)._repr_markdown_()


def _plain(answer: object, printer: Any, cycle: bool) -> None:
    printer.text(str(show(answer)))
