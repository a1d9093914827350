"""Answers -> HTML and markdown for a notebook: tables where an answer is a list, else its text."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ..answers import Diagnosis, Recommendation, Survey
from ..marginal import Marginals
from ..matrix import Matrix
from ..report import CheckReport, Explanation
from . import diagnosis, matrix_text, memory, roofline, survey, text
from .conflict import command
from .matrix_table import STAR, WORDS, blocked, groups, own, place, said, title
from .sentence import choice, count, shown, wrapped

# Of both themes: the ink is ours because the fill is.
_FILL = {
    "works": "#cdeccf",
    "changed": "#d5e4fa",
    "only with": "#e6dcf7",
    "defect": "#ffe3b8",
    "refused": "#f8d0cd",
    "absent": "#ececec",
}


def as_text(answer: object) -> str:
    """The text of an answer; TypeError for what is none."""
    if isinstance(answer, Recommendation):
        return text.recommendation(answer)
    if isinstance(answer, CheckReport):
        return text.check(answer)
    if isinstance(answer, Explanation):
        return text.explanation(answer)
    if isinstance(answer, Survey):
        return survey.survey(answer)
    if isinstance(answer, Diagnosis):
        return diagnosis.diagnosis(answer)
    if isinstance(answer, Matrix):
        return matrix_text.text([answer])
    if isinstance(answer, Marginals):
        return marginals(answer)
    raise TypeError(f"{type(answer).__name__} is no answer of this package")


def marginals(found: Marginals) -> str:
    """What the configurations type, in percent, the most frequent first."""
    lines = [*text.head(found.subject), f"{count(found.count)} configurations hold. Of these"]
    for name, values in found.choices.items():
        ordered = sorted(values.items(), key=lambda one: -one[1])
        shares = ", ".join(f"{choice(value)} {100 * number / found.count:.1f} %" for value, number in ordered[:8])
        more = f" and {len(ordered) - 8} more" if len(ordered) > 8 else ""
        lines.append(wrapped(f"{name}: {shares}{more}", "    ", "  "))
    return "\n".join(lines) + "\n"


def as_markdown(answer: object) -> str:
    """An answer as markdown."""
    if isinstance(answer, Matrix):
        return matrix_text.markdown([answer])
    if isinstance(answer, Recommendation) and answer.solutions:
        lines = [f"**{count(answer.count)}** configurations hold; the best by profile {answer.profile}:", ""]
        for one in answer.solutions:
            lines += [f"{one.rank}. score {one.score}", "", _fenced(command(answer.subject, one.args), "   "), ""]
        return "\n".join(lines)
    return _fenced(as_text(answer).rstrip("\n"))


def as_html(answer: object) -> str:
    """An answer as HTML."""
    if isinstance(answer, Matrix):
        return _matrix(answer)
    if isinstance(answer, Recommendation) and answer.solutions:
        return _recommendation(answer)
    return f"<pre>{html.escape(as_text(answer))}</pre>"


def _fenced(code: str, indent: str = "") -> str:
    return "\n".join(indent + line for line in ["```", *code.splitlines(), "```"])


def _recommendation(found: Recommendation) -> str:
    body = []
    for one in found.solutions:
        terms = ", ".join(f"{name} {points:+d}" for name, points in one.terms.items())
        held = "" if one.memory is None else memory.line(one.memory)
        held += "" if one.roofline is None else " " + roofline.line(one.roofline, found.workload)
        launch = html.escape(command(found.subject, one.args))
        body.append(
            f'<tr><td>{one.rank}</td><td title="{html.escape(terms)}">{one.score}</td>'
            f'<td style="text-align:left"><pre style="margin:0">{launch}</pre></td>'
            f'<td style="text-align:left">{html.escape(held)}</td></tr>'
        )
    head = " ".join(text.head(found.subject))
    return (
        f"<p>{html.escape(head)}: {count(found.count)} configurations hold, the best {len(found.solutions)} by profile "
        f"{html.escape(found.profile)}.</p>" + _table(("", "score", "command", "memory and bounds"), body)
    )


def _matrix(found: Matrix) -> str:
    parts = groups(found.columns)
    body = []
    for row, value in enumerate(found.values):
        cells = [group.columns[0].cells[row] for group in parts]
        marks = []
        for group, cell in zip(parts, cells, strict=True):
            word = WORDS[cell.state] + (STAR if own(cell, group.columns[0]) else "")
            why = said(cell, group.columns[0].release)
            where = f" [{place(cell.because[0])}]" if cell.because else ""
            marks.append(
                f'<td title="{html.escape(why + where)}" style="background:{_FILL[cell.state]};color:#16181a;'
                f'text-align:center">{word}</td>'
            )
        body.append(f'<tr><th style="text-align:left">{html.escape(shown(value))}</th>{"".join(marks)}</tr>')
    notes = [
        f"<li>Nothing starts on {html.escape(names)}: {html.escape('; '.join(hit.rule.title for hit in hits))}</li>"
        for names, hits in blocked(parts)
    ]
    heads = ["", *(f'<abbr title="{html.escape(group.members)}">{html.escape(group.title)}</abbr>' for group in parts)]
    return f"<p>{html.escape(title(found))}</p>" + _table(heads, body) + (f"<ul>{''.join(notes)}</ul>" if notes else "")


def _table(heads: Sequence[str], body: Sequence[str]) -> str:
    cells = "".join(f"<th>{one}</th>" for one in heads)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(body)}</tbody></table>"
