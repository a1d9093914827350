"""Matrices -> one page that needs nothing else: filter, pick a cell, read why and what to type."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from ..answers import Violated
from ..matrix import STATES, Cell, Column, Matrix
from .matrix_table import MEANINGS, WORDS, beside, place, said, shown_typed
from .sentence import shown
from .text import STAGES

_DATA, _TITLE, _ABOUT = "__DATA__", "__TITLE__", "__ABOUT__"


def page(found: Sequence[Matrix]) -> str:
    """The page, the same bytes for the same matrices."""
    template = files(__package__).joinpath("matrix.html").read_text(encoding="utf-8")
    payload = _Payload().of(found)
    # No tag and no comment inside the data may touch the script that holds it.
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    title = f"What works with {found[0].option}"
    return template.replace(_TITLE, html.escape(title)).replace(_ABOUT, html.escape(_about(found))).replace(_DATA, text)


def _about(found: Sequence[Matrix]) -> str:
    releases = sorted({column.release for one in found for column in one.columns})
    typed = shown_typed(found[0])
    return (
        f"Each cell is a command that types the value alone, resolved by the rules of SGLang {' and '.join(releases)}"
        + (f", with {typed}" if typed else "")
        + ". Nothing was run on a GPU; what SGLang does not check before a kernel runs is known in part."
    )


class _Payload:
    """Rules and cells once each, columns as numbers."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str], int] = {}
        self._said: list[dict[str, Any]] = []
        self._cells: dict[str, int] = {}
        self._kept: list[dict[str, Any]] = []

    def of(self, found: Sequence[Matrix]) -> dict[str, Any]:
        """All of it."""
        columns = [self._column(column) for one in found for column in one.columns]
        values = {shown(value): None for one in found for value in one.values}
        return {
            "option": found[0].option,
            "axis": found[0].axis,
            "states": [{"name": one, "word": WORDS[one], "means": MEANINGS[one]} for one in STATES],
            "values": list(values),
            "columns": columns,
            "cells": self._kept,
            "rules": self._said,
        }

    def _column(self, column: Column) -> dict[str, Any]:
        return {
            "axis": shown(column.value),
            "model": column.model,
            "gpu": column.gpu,
            "release": column.release,
            "count": column.num_gpus,
            "unset": shown(column.unset),
            "blocked": [self._rule(hit) for hit in column.blocked],
            "cells": {shown(cell.value): self._cell(cell, column) for cell in column.cells},
        }

    def _cell(self, cell: Cell, column: Column) -> int:
        made: dict[str, Any] = {"s": STATES.index(cell.state), "args": shlex.join(cell.args)}
        made["says"] = said(cell, column.release)
        if cell.effective is not None and cell.state == "changed":
            made["runs"] = shown(cell.effective)
        if cell.because:
            made["why"] = [self._rule(hit) for hit in cell.because]
        if cell.warnings:
            made["warns"] = [self._rule(hit) for hit in cell.warnings]
        if cell.fix is not None:
            made["with"] = beside(cell)
            made["fix"] = shlex.join(cell.fix.args)
        key = json.dumps(made, sort_keys=True)
        if key not in self._cells:
            self._cells[key] = len(self._kept)
            self._kept.append(made)
        return self._cells[key]

    def _rule(self, hit: Violated) -> int:
        key = (hit.rule.id, hit.source.release if hit.source is not None else "")
        if key not in self._rules:
            self._rules[key] = len(self._said)
            self._said.append(
                {
                    "title": hit.rule.title,
                    "reason": " ".join(hit.rule.reason.split()),
                    "fix": " ".join(hit.rule.fix.split()),
                    "kind": hit.rule.kind,
                    "when": STAGES[hit.rule.stage],
                    "place": place(hit),
                }
            )
        return self._rules[key]
