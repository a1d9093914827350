"""`preflight recommend`."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import InputError
from . import completion, launching
from .inputs import machine_asked, pins_of, settings_of
from .options import (
    NO,
    YES,
    Cuda,
    Env,
    Gpu,
    LaunchFormat,
    LaunchOutput,
    Memory,
    Model,
    Nodes,
    Plot,
    Release,
    Sets,
    Without,
)
from .output import draw, formatted, write


def recommend(
    model: Model,
    gpu: Gpu,
    profile: Annotated[
        str,
        typer.Option(
            "--profile", help="What better means; see `preflight profiles`.", autocompletion=completion.profiles
        ),
    ] = "balanced",
    sets: Sets = None,
    top: Annotated[int, typer.Option("--top", min=1, max=1000, help="How many to show.")] = 5,
    release: Release = None,
    env: Env = None,
    without: Without = None,
    cuda: Cuda = None,
    nodes: Nodes = 1,
    gpu_memory: Memory = None,
    max_gpus: Annotated[
        int | None, typer.Option("--max-gpus", help="Take the fewest GPUs of a node that do, at most these.")
    ] = None,
    plot: Plot = None,
    plot_kind: Annotated[str, typer.Option("--plot-kind", help="What to draw: memory, terms or pareto.")] = "memory",
    output: LaunchOutput = LaunchFormat.text,
) -> int:
    """The best configurations for a model on a GPU, and how many hold in all."""
    from ..api import Preflight
    from ..render import machine, text

    preflight = Preflight(release)
    platform = machine_asked(
        preflight.knowledge, gpu, nodes=nodes, env=env, without=without, cuda=cuda, memory_gib=gpu_memory
    )
    pins = pins_of(sets or [], preflight.knowledge.flags)
    if max_gpus is None:
        found = preflight.recommend(model, platform, profile=profile, pins=pins, top=top)
    else:
        if platform.counted:
            raise InputError(
                f"{gpu!r} says how many GPUs already", "--max-gpus", "Name the GPU alone, or leave it out."
            )
        from ..scale import recommend_up_to

        wanted = preflight.profile(profile)
        fewer, found = recommend_up_to(preflight, max_gpus, model, platform, wanted, pins, top)
        if fewer and output is LaunchFormat.text:
            write(text.too_few(fewer, found) + "\n")
    if output in launching.FORMS and found.solutions:
        made = [
            launching.Configured(
                found.subject.model, one.args, found.subject.gpu, found.subject.num_gpus, found.subject.release
            )
            for one in found.solutions
        ]
        write(launching.written(output, made, preflight, platform, settings_of(env)))
    else:
        write(formatted(output, text.recommendation(found), machine.recommendation(found)))
    if plot is not None:
        draw(found, plot, plot_kind) if found.solutions else draw(found.explanation, plot)
    return YES if found.solutions else NO
