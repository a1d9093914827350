"""`preflight matrix`: what works on what, as a table, a file of data or a page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constraints.values import Value

from ..errors import InputError
from ..given import flag_named
from . import completion
from .inputs import gpu_asked, pins_of
from .options import YES, Fetch, Here, Revision, Sets
from .output import write, write_file

if TYPE_CHECKING:
    from ..api import Preflight
    from ..matrix import Matrix

ASPECTS = {"gpu": "gpu", "count": "num_gpus", "release": "release", "model": "model"}


class MatrixFormat(StrEnum):
    """How a matrix is written."""

    text = "text"
    markdown = "markdown"
    csv = "csv"
    json = "json"
    html = "html"


def matrix(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="HF ids, folders or config.json; one of each kind of attention by default.",
            show_default=False,
            autocompletion=completion.models,
        ),
    ] = None,
    flag: Annotated[
        str | None, typer.Option("--flag", help="Whose values are the rows.", autocompletion=completion.flags)
    ] = None,
    by: Annotated[str, typer.Option("--by", help="The columns: gpu, count, release, model, or another flag.")] = "gpu",
    rows: Annotated[str | None, typer.Option("--rows", metavar="VALUE,...", help="These values alone.")] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="NAME,...", help="These columns alone, such as B200,4xH100.")
    ] = None,
    gpu: Annotated[
        str | None,
        typer.Option(
            "--gpu",
            help="Such as B200 or 8xB200, where the columns are no GPUs; as few as the model needs, if not counted.",
            autocompletion=completion.gpus,
        ),
    ] = None,
    releases: Annotated[
        list[str] | None,
        typer.Option("--release", help="Repeatable; the newest by default.", autocompletion=completion.releases),
    ] = None,
    sets: Sets = None,
    ways: Annotated[
        bool, typer.Option("--ways/--no-ways", help="Look for what helps where a value is refused alone; slower.")
    ] = True,
    here: Here = False,
    fetch: Fetch = False,
    revision: Revision = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it there.")] = None,
    output: Annotated[MatrixFormat, typer.Option("--format", help="How to write it.")] = MatrixFormat.text,
) -> int:
    """Which of a flag's values work on which GPU, model, release or with which other flag's values."""
    from ..api import Preflight
    from ..intake.hub import Hub

    found: list[Matrix] = []
    hub = Hub(fetch, revision)
    # What is named for an axis is what stands on it.
    if columns is None and by in ("model", "release"):
        columns = ",".join((models if by == "model" else releases) or ()) or None
    wanted: list[str | None] = [*releases] if releases and by != "release" else [None]
    for release in wanted:
        preflight = Preflight(release, hub)
        if here:
            gpu, columns = _here(preflight, gpu, by, columns)
            here = False
        chosen = models or preflight.knowledge.roles["matrix.models"].split()
        for model in chosen[:1] if by == "model" else chosen:
            found.append(_one(preflight, model, flag, by, rows, columns, gpu, sets, ways))
    shown = _written(found, output)
    if out is None:
        write(shown)
    else:
        write_file(out, shown)
    return YES


def _here(preflight: Preflight, gpu: str | None, by: str, columns: str | None) -> tuple[str | None, str | None]:
    """The GPUs of this machine, as those of the question, or where the columns are GPUs as the one column.

    Raises InputError.
    """
    found, _ = gpu_asked(gpu, True, preflight.knowledge.gpus, None, "")
    if by == "gpu" and columns is None:
        columns = preflight.machine(found or "").gpu.name
    return found, columns


def _one(
    preflight: Preflight,
    model: str,
    flag: str | None,
    by: str,
    rows: str | None,
    columns: str | None,
    gpu: str | None,
    sets: list[str] | None,
    ways: bool,
) -> Matrix:
    from .progress import progress

    flags = preflight.knowledge.flags
    field = flag_named(flag, flags) if flag is not None else preflight.knowledge.roles["matrix.flag"]
    axis = ASPECTS[by] if by in ASPECTS else flag_named(by, flags)
    if axis == field:
        raise InputError(f"{field} is the rows already", "--by", "Name another flag, or gpu, count, release, model.")
    if axis != "gpu" and gpu is None:
        raise InputError("no GPU is named, and the columns are none", "--gpu", "Such as --gpu H100 or --gpu 8xH100.")
    with progress(f"{model}, SGLang {preflight.release}") as bar:
        return preflight.matrix(
            model,
            gpu,
            flag=field,
            by=axis,
            values=_values(field, rows, preflight, "--rows"),
            columns=_values(axis, columns, preflight, "--columns"),
            typed=pins_of(sets or [], flags),
            ways=ways,
            progress=bar,
        )


def _values(name: str, text: str | None, preflight: Preflight, option: str) -> Sequence[Value]:
    """The values of a list that an option gives; a flag's are read as SGLang would."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    if name not in preflight.knowledge.flags:
        return words
    return [pins_of([f"{name}={shlex.quote(word)}"], preflight.knowledge.flags, option)[name] for word in words]


def _written(found: Sequence[Matrix], output: MatrixFormat) -> str:
    from ..render import machine, matrix_data, matrix_html, matrix_text

    if output is MatrixFormat.html:
        return matrix_html.page(found)
    if output is MatrixFormat.csv:
        return matrix_data.as_csv(found)
    if output is MatrixFormat.json:
        return machine.as_json(matrix_data.data(found))
    return matrix_text.markdown(found) if output is MatrixFormat.markdown else matrix_text.text(found)
