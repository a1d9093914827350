"""Matrices -> rows of CSV and plain data: a line or an object for each cell."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from typing import Any

from ..answers import Violated
from ..matrix import Cell, Column, Matrix
from . import machine
from .matrix_table import beside, place, said
from .sentence import shown

_COLUMNS = (
    *("model", "release", "gpu", "num_gpus", "column", "flag", "value", "state", "effective"),
    *("says", "rule", "do", "command"),
)


def command(column: Column, cell: Cell) -> str:
    """The command that asks, or the one that holds instead, on one line."""
    args = cell.fix.args if cell.fix is not None else cell.args
    return shlex.join(["python", "-m", "sglang.launch_server", "--model-path", column.model, *args])


def as_csv(found: Sequence[Matrix]) -> str:
    """A line for each cell."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for one in found:
        for column in one.columns:
            for cell in column.cells:
                hit = cell.because[0] if cell.because else None
                rows.writerow(
                    (
                        *(column.model, column.release, column.gpu, column.num_gpus, shown(column.value)),
                        *(one.flag, shown(cell.value), cell.state),
                        *("" if cell.effective is None else shown(cell.effective), said(cell, column.release)),
                        *(place(hit) if hit else "", " ".join(hit.rule.fix.split()) if hit else ""),
                        command(column, cell),
                    )
                )
    return out.getvalue()


def data(found: Sequence[Matrix]) -> dict[str, Any]:
    """All cells as plain data."""
    return {"schema": machine.SCHEMA, "matrices": [_matrix(one) for one in found]}


def _matrix(found: Matrix) -> dict[str, Any]:
    return {
        "flag": found.flag,
        "by": found.axis,
        "model": found.model,
        "gpu": found.gpu,
        "release": found.release,
        "asked_release": found.asked_release or found.release,
        "inferred": list(found.inferred),
        "typed": machine.values(found.typed),
        "columns": [
            {
                "value": column.value,
                "model": column.model,
                "gpu": column.gpu,
                "num_gpus": column.num_gpus,
                "release": column.release,
                "unset": machine.values({"": column.unset})[""],
                "blocked": [_violated(hit) for hit in column.blocked],
                "cells": [_cell(cell) for cell in column.cells],
            }
            for column in found.columns
        ],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "value": machine.values({"": cell.value})[""],
        "state": cell.state,
        "effective": machine.values({"": cell.effective})[""],
        "args": list(cell.args),
        "because": [_violated(hit) for hit in cell.because],
        "warnings": [_violated(hit) for hit in cell.warnings],
        "with": beside(cell) or None,
        "command": list(cell.fix.args) if cell.fix is not None else None,
    }


def _violated(hit: Violated) -> dict[str, Any]:
    return {
        "rule": hit.rule.id,
        "kind": hit.rule.kind,
        "stage": hit.rule.stage,
        "title": hit.rule.title,
        "fix": " ".join(hit.rule.fix.split()),
        "source": machine.source(hit.source),
    }
