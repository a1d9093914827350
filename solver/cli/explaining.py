"""`preflight explain` and `preflight diagnose`: why not, for which else, what a log means."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from . import launching
from .commanding import gpus_said, launch_said, release_said
from .inputs import flags_of, gpu_asked, kept_of, machine_asked, pins_of, settings_of, text_of
from .options import (
    NO,
    YES,
    Cuda,
    Env,
    Fetch,
    Format,
    Here,
    Keep,
    LaunchFormat,
    LaunchOutput,
    Model,
    Nodes,
    Output,
    Plot,
    Release,
    Revision,
    Sets,
    Without,
)
from .output import draw, expect_plot, formatted, write

if TYPE_CHECKING:
    from ..api import Preflight
    from ..facts import Platform


class Which(StrEnum):
    """What may be another one in a reverse question."""

    gpu = "gpu"
    number = "count"
    release = "release"
    model = "model"


ASPECT = {Which.gpu: "gpu", Which.number: "num_gpus", Which.release: "release", Which.model: "model"}
# GPUs of a usual node: what "for which GPU" asks about when no number is given.
NODE = 8


def explain(
    model: Model,
    gpu: Annotated[str | None, typer.Argument(metavar="[GPU]", help="Such as B200; not needed by --which gpu.")] = None,
    sets: Sets = None,
    args: Annotated[str | None, typer.Option("--args", help="A command's flags, as one text.")] = None,
    release: Release = None,
    env: Env = None,
    without: Without = None,
    cuda: Cuda = None,
    nodes: Nodes = 1,
    keep: Keep = None,
    which: Annotated[Which | None, typer.Option("--which", help="Ask for which of these it holds.")] = None,
    here: Here = False,
    fetch: Fetch = False,
    revision: Revision = None,
    plot: Plot = None,
    output: LaunchOutput = LaunchFormat.text,
) -> int:
    """Why nothing holds: every minimal conflict, and the cheapest changes that help."""
    from ..api import Preflight
    from ..intake.hub import Hub
    from ..render import machine, text

    if (args is None) == (not sets):
        said = "both --set and --args are given" if sets else "say what to explain"
        if which is not None and not sets:
            said = f"--which {which.value} asks for which of these something holds: say what"
        raise InputError(said, "explain", 'Give either --set FLAG=VALUE or --args "FLAGS".')
    if plot is not None:
        expect_plot(plot)
    launch = launch_said([args] if args else [])
    preflight = Preflight(release_said(launch, release), Hub(fetch, revision))
    memory = None
    if here or which is not Which.gpu:
        example = "preflight explain MODEL 8xB200 --set FLAG=VALUE"
        gpu, memory = gpu_asked(gpu, here, preflight.knowledge.gpus, None, example)
    arguments, given = flags_of(args or "", preflight.knowledge.flags)
    platform = machine_asked(
        preflight.knowledge,
        gpu or f"{NODE}x{next(one.name for one in preflight.knowledge.gpus.values() if not one.generic)}",
        nodes=nodes,
        env=env,
        without=without,
        cuda=cuda,
        memory_gib=memory,
        given=given,
        num_gpus=gpus_said(launch, preflight.knowledge.roles),
    )
    if which is not None:
        return _which(preflight, which, model, platform, sets, arguments if args is not None else None, output)
    kept = kept_of(keep, preflight.knowledge.flags)
    if args is not None:
        found = preflight.explain_command(model, platform, arguments, kept)
    else:
        found = preflight.explain(model, platform, pins_of(sets or [], preflight.knowledge.flags), kept)
    if output in launching.FORMS and found.fixes:
        made = [
            launching.Configured(one.model, one.args, one.gpu, one.num_gpus, one.release, one.effective)
            for one in found.fixes
        ]
        write(launching.written(output, made, preflight, platform, settings_of(env)))
    else:
        write(formatted(output, text.explanation(found), machine.explanation(found)))
    if plot is not None:
        draw(found, plot)
    return YES if found.satisfiable else NO


def _which(
    preflight: Preflight,
    which: Which,
    model: str,
    platform: Platform,
    sets: list[str] | None,
    arguments: list[str] | None,
    output: LaunchFormat,
) -> int:
    from ..render import survey
    from .progress import progress

    pins = pins_of(sets or [], preflight.knowledge.flags)
    with progress(f"asking for each {which.value}") as shown:
        found = preflight.which(ASPECT[which], model, platform, pins=pins, arguments=arguments, progress=shown)
    text = survey.command(found) if output is LaunchFormat.command else survey.survey(found)
    write(formatted(output, text, survey.data(found)))
    return YES if any(one.works for one in found.answers) else NO


def diagnose(
    log: Annotated[str, typer.Argument(metavar="FILE|-", help="A log or traceback.", show_default=False)],
    gpu: Annotated[str | None, typer.Option("--gpu", help="Such as 8xB200, where the log names none.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="The model, where the log names none.")] = None,
    args: Annotated[
        str | None, typer.Option("--args", help="The launch command or its flags, where the log shows none.")
    ] = None,
    release: Release = None,
    output: Output = Format.text,
) -> int:
    """From a log or traceback to the rule, its cause, the way out and what would fail next."""
    from ..api import Preflight
    from ..render import diagnosis
    from ..render.sentence import refusal_hint, refusal_message

    preflight = Preflight(release)
    flags_of(args or "", preflight.knowledge.flags)
    found = preflight.diagnose(text_of(log), model=model, gpu=gpu, command=(args or "").strip())
    if args and found.origin and found.refusal is not None:
        refusal = found.refusal
        raise InputError(refusal_message(refusal, found.release), "--args", refusal_hint(refusal) or None)
    write(formatted(output, diagnosis.diagnosis(found), diagnosis.data(found)))
    return YES if found.recognised else NO
