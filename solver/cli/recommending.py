"""`preflight recommend`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from . import completion, launching
from .inputs import gpu_asked, machine_asked, pins_of, settings_of
from .options import (
    NO,
    YES,
    Cuda,
    Env,
    Fetch,
    Gpu,
    Here,
    LaunchFormat,
    LaunchOutput,
    Memory,
    Model,
    Nodes,
    Plot,
    Release,
    Revision,
    Sets,
    Without,
)
from .output import draw, expect_plot, formatted, write


def recommend(
    model: Model,
    gpu: Gpu = None,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="What better means: one of `preflight profiles`, or a file.",
            autocompletion=completion.profiles,
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
    input_len: Annotated[
        int | None, typer.Option("--input-len", min=1, help="Tokens of a prompt; as the profile says by default.")
    ] = None,
    output_len: Annotated[int | None, typer.Option("--output-len", min=1, help="Tokens of an answer.")] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", min=1, help="Requests at once.")] = None,
    context_length: Annotated[
        int | None, typer.Option("--context-length", min=1, help="Tokens that a request may grow to.")
    ] = None,
    reasons: Annotated[
        bool, typer.Option("--why", help="Show what each term gives, and why one stands before the next.")
    ] = False,
    pareto: Annotated[
        str | None,
        typer.Option("--pareto", metavar="TERM,...", help="The front over these terms of the profile, not the best."),
    ] = None,
    servers: Annotated[
        bool, typer.Option("--servers", help="Also: are several servers on these GPUs better than one?")
    ] = False,
    near_duplicates: Annotated[
        bool, typer.Option("--near-duplicates", help="Also such as differ in nothing a person chooses by.")
    ] = False,
    here: Here = False,
    fetch: Fetch = False,
    revision: Revision = None,
    plot: Plot = None,
    plot_kind: Annotated[str, typer.Option("--plot-kind", help="What to draw: memory, terms or pareto.")] = "memory",
    output: LaunchOutput = LaunchFormat.text,
) -> int:
    """The best configurations for a model on a GPU, and how many hold in all."""
    from ..answers import Recommendation
    from ..api import Preflight
    from ..estimate.roofline import Workload
    from ..intake.hub import Hub
    from ..own_profile import own_profile
    from ..render import machine, text
    from ..render import servers as beside
    from ..servers import splits

    if plot is not None:
        expect_plot(plot, plot_kind, Recommendation)
    preflight = Preflight(release, Hub(fetch, revision))
    gpu, gpu_memory = gpu_asked(gpu, here, preflight.knowledge.gpus, gpu_memory, "recommend MODEL 8xB200")
    platform = machine_asked(
        preflight.knowledge, gpu, nodes=nodes, env=env, without=without, cuda=cuda, memory_gib=gpu_memory
    )
    pins = pins_of(sets or [], preflight.knowledge.flags)
    own = profile.endswith((".yaml", ".yml")) or "/" in profile
    wanted = (
        own_profile(Path(profile), preflight.knowledge, preflight.engine.models) if own else preflight.profile(profile)
    )
    usual = Workload(*wanted.workload)
    served = Workload(
        input_len or usual.input_len,
        output_len or usual.output_len,
        concurrency or usual.concurrency,
        context_length or 0,
    )
    front = tuple(name.strip() for name in (pareto or "").split(",") if name.strip())
    if pareto is not None and not front:
        names = ", ".join(term.name for term in wanted.terms)
        raise InputError("no term is named", "--pareto", f"Terms of {wanted.name}: {names}.")
    if front and max_gpus is not None:
        raise InputError("a front is asked for one number of GPUs", "--pareto", "Leave --max-gpus out.")
    if front and near_duplicates:
        raise InputError("a front leaves out what is beaten alone", "--near-duplicates", "Leave it or --pareto out.")
    if servers and max_gpus is not None:
        raise InputError("servers divide GPUs that are there", "--servers", "Leave --max-gpus out.")
    if servers and output in launching.FORMS:
        raise InputError(
            f"servers are compared in a table, which {output.value} has no place for",
            "--servers",
            "Take --format text, json or yaml.",
        )
    if max_gpus is None:
        found = preflight.recommend(
            model, platform, profile=wanted, pins=pins, top=top, workload=served, alike=near_duplicates, front=front
        )
    else:
        if platform.counted:
            raise InputError(
                f"{gpu!r} says how many GPUs already", "--max-gpus", "Name the GPU alone, or leave it out."
            )
        from ..scale import recommend_up_to

        fewer, found = recommend_up_to(preflight, max_gpus, model, platform, wanted, pins, top, served, near_duplicates)
        if fewer and output is LaunchFormat.text:
            write(text.too_few(fewer, found) + "\n")
    if output in launching.FORMS and found.solutions:
        place = found.subject
        made = [
            launching.Configured(place.model, one.args, place.gpu, place.num_gpus, place.release, one.effective)
            for one in found.solutions
        ]
        write(launching.written(output, made, preflight, platform, settings_of(env)))
    else:
        shown, data = text.recommendation(found, reasons=reasons), machine.recommendation(found)
        if servers and found.solutions:
            divided = splits(preflight.engine, model, platform, wanted, pins, served)
            shown += "\n" + beside.table(divided, served)
            data["servers"] = beside.as_data(divided)
        write(formatted(output, shown, data))
    if plot is not None:
        draw(found, plot, plot_kind) if found.solutions else draw(found.explanation, plot)
    return YES if found.solutions else NO
