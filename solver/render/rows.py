"""Answers -> rows of plain values by column: what a table or a data frame shows."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from constraints.values import Value

from ..answers import Diagnosis, Recommendation, Survey
from ..marginal import Marginals
from ..matrix import Matrix
from ..report import CheckReport, Explanation
from .conflict import changes
from .matrix_data import command
from .matrix_table import place, said
from .sentence import choice, finding_message

Row = dict[str, Any]
_GIB = 1024  # MiB


def rows(answer: object) -> list[Row]:
    """The rows of an answer; TypeError for what is none."""
    for kind, made in _ROWS.items():
        if isinstance(answer, kind):
            return made(answer)
    raise TypeError(f"{type(answer).__name__} is no answer of this package")


def _recommendation(found: Recommendation) -> list[Row]:
    return [
        {
            "rank": one.rank,
            "score": one.score,
            **dict(one.terms),
            "weights_gib": None if one.memory is None else round(one.memory.weights.likely / _GIB, 1),
            "pool_gib": None if one.memory is None else round(one.memory.pool.likely / _GIB, 1),
            "tokens": None if one.memory is None or one.memory.tokens is None else int(one.memory.tokens.likely),
            "first_token_s": None if one.roofline is None else round(one.roofline.first_token, 4),
            "tokens_per_s": None if one.roofline is None else round(one.roofline.rate),
            "args": shlex.join(one.args),
        }
        for one in found.solutions
    ]


def _check(found: CheckReport) -> list[Row]:
    return [
        {
            "severity": one.severity,
            "stage": one.rule.stage,
            "rule": one.rule.id,
            "says": finding_message(one),
            "do": " ".join(one.rule.fix.split()),
            "source": "" if one.source is None else f"{one.source.file}:{one.source.line}",
        }
        for one in found.findings
    ]


def _explanation(found: Explanation) -> list[Row]:
    return [
        {
            "cost": fix.cost,
            "change": "; ".join(changes(fix)),
            "gpu": fix.gpu,
            "num_gpus": fix.num_gpus,
            "release": fix.release,
            "args": shlex.join(fix.args),
        }
        for fix in found.fixes
    ]


def _survey(found: Survey) -> list[Row]:
    return [
        {
            found.aspect: _plain(one.value),
            "works": one.works,
            "because": "; ".join(hit.rule.title for hit in one.because),
            "args": None if one.command is None else shlex.join(one.command.args),
        }
        for one in found.answers
    ]


def _matrix(found: Matrix) -> list[Row]:
    return [
        {
            found.axis: _plain(column.value),
            found.flag: _plain(cell.value),
            "state": cell.state,
            "says": said(cell, column.release),
            "rule": place(cell.because[0]) if cell.because else "",
            "num_gpus": column.num_gpus,
            "command": command(column, cell),
        }
        for column in found.columns
        for cell in column.cells
    ]


def _marginals(found: Marginals) -> list[Row]:
    return [
        {"choice": name, "value": choice(value), "configurations": number, "share": number / found.count}
        for name, values in found.choices.items()
        for value, number in values.items()
    ]


def _diagnosis(found: Diagnosis) -> list[Row]:
    return [] if found.report is None else _check(found.report)


def _plain(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


_ROWS: dict[type, Callable[[Any], list[Row]]] = {
    Recommendation: _recommendation,
    CheckReport: _check,
    Explanation: _explanation,
    Survey: _survey,
    Marginals: _marginals,
    Matrix: _matrix,
    Diagnosis: _diagnosis,
}
