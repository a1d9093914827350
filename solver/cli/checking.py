"""`preflight check` and `preflight resolve`: what SGLang does with a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constraints.gpu_schema import Gpus
from constraints.values import Value

from ..errors import InputError
from ..gpu import parse_gpu
from ..intake.hub import Hub
from . import completion
from .commanding import gpus_said, launch_said, release_said
from .filing import is_file
from .inputs import arguments_of, gpu_asked, is_gpu, kept_of, machine_asked, settings_of
from .options import (
    NO,
    YES,
    CheckFormat,
    CheckOutput,
    Cuda,
    Env,
    Fetch,
    Format,
    Here,
    Keep,
    Memory,
    Nodes,
    Output,
    Quiet,
    Release,
    Revision,
    Without,
)
from .output import formatted, write

if TYPE_CHECKING:
    from ..api import Preflight
    from ..facts import Platform


def check(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL] [GPU] [FILE|-]... [-- COMMAND OR FLAGS]",
            help="The GPU, then files that launch SGLang, or what you would launch.",
            autocompletion=completion.gpus,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="The model, when the flags do not name one.", autocompletion=completion.models),
    ] = None,
    release: Release = None,
    env: Env = None,
    without: Without = None,
    cuda: Cuda = None,
    nodes: Nodes = 1,
    gpu_memory: Memory = None,
    show_facts: Annotated[bool, typer.Option("--facts", help="Show every fact the answer stands on.")] = False,
    why: Annotated[bool, typer.Option("--why/--no-why", help="Add conflicts and ways out to a no.")] = True,
    keep: Keep = None,
    batch_file: Annotated[
        str | None, typer.Option("--batch", metavar="FILE|-", help="JSON lines in, JSON lines out.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Write the best way out into the file.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, or has changed.")] = False,
    quiet: Quiet = False,
    here: Here = False,
    fetch: Fetch = False,
    revision: Revision = None,
    output: CheckOutput = CheckFormat.text,
) -> int:
    """Does this launch command hold, and what will SGLang really run?"""
    if batch_file is not None:
        from . import batch

        gpu = None
        if here:
            (gpu, *_), gpu_memory = _with_gpu([], gpu_memory)
        return batch.run(batch_file, batch.Usual(release, gpu, gpu_memory, Hub(fetch, revision)))
    from . import filing

    words, model = _with_model(words or [], model)
    if here:
        words, gpu_memory = _with_gpu(words, gpu_memory)
    elif words and words[0].startswith("-") and words[0] != "-":
        raise InputError("no GPU is named", "check", "Write: preflight check 8xB200 --model MODEL -- --tp 8")
    hub = Hub(fetch, revision)
    gpu_and_files = filing.files_among(words)
    if gpu_and_files is not None or (words and (quiet or output in filing.TOOLS)):
        from ..file_check import Asked

        gpu, files = gpu_and_files or (words[0], [])
        told = why or fix or diff
        asked = Asked(gpu, model, release, settings_of(env), without or (), cuda, gpu_memory, nodes, told, hub=hub)
        shown_as = filing.Shown(output, quiet, show_facts, fix, diff, keep)
        return filing.run(asked, files, shown_as) if files else filing.command(asked, words[1:], shown_as)
    if fix or diff:
        raise InputError("--fix and --diff need a file", "check", "Write: preflight check 8xB200 FILE --diff")
    from ..render import conflict, machine, text

    if not words:
        raise InputError("no GPU is named", "check", "Write: preflight check 8xB200 --model MODEL -- --tp 8")
    preflight, platform, arguments = _launched(
        words, release, hub, nodes=nodes, env=env, without=without, cuda=cuda, memory_gib=gpu_memory
    )
    report = preflight.check(model, platform, arguments, Path(), why=why, keep=kept_of(keep, preflight.knowledge.flags))
    report = report._replace(memory=preflight.memory(report) if report.refusal is None else None)
    shown = text.check(report) + (_facts(report.facts) if show_facts and output is CheckFormat.text else "")
    if output is CheckFormat.command:
        shown = conflict.command(report.subject, arguments) + "\n"
    write(formatted(output, shown, machine.check(report, facts=show_facts)))
    return YES if report.holds else NO


def resolve(
    words: Annotated[list[str] | None, typer.Argument(metavar="[MODEL] GPU [-- COMMAND OR FLAGS]")] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="The model, when the flags do not name one.", autocompletion=completion.models),
    ] = None,
    release: Release = None,
    env: Env = None,
    without: Without = None,
    cuda: Cuda = None,
    nodes: Nodes = 1,
    here: Here = False,
    fetch: Fetch = False,
    revision: Revision = None,
    output: Output = Format.text,
) -> int:
    """The effective configuration, write by write, in SGLang's order."""
    from ..render import machine, text

    words, model = _with_model(words or [], model)
    memory = None
    if here:
        words, memory = _with_gpu(words, None)
    if not words or words[0].startswith("-"):
        raise InputError("no GPU is named", "resolve", "Write: preflight resolve 8xB200 --model MODEL -- --tp 8")
    preflight, platform, arguments = _launched(
        words, release, Hub(fetch, revision), nodes=nodes, env=env, without=without, cuda=cuda, memory_gib=memory
    )
    report = preflight.check(model, platform, arguments, Path())
    data = machine.check(report)
    data["log"] = [machine.change(one) for one in report.log]
    write(formatted(output, text.log(report), data))
    return NO if report.refused else YES


def _launched(
    words: Sequence[str],
    release: str | None,
    hub: Hub,
    *,
    nodes: int,
    env: Sequence[str] | None,
    without: Sequence[str] | None,
    cuda: str | None,
    memory_gib: float | None,
) -> tuple[Preflight, Platform, list[str]]:
    """What words that name a GPU and then a launch are asked of; its own environment counts below ``env``.

    Raises InputError.
    """
    from ..api import Preflight

    launch = launch_said(words[1:])
    preflight = Preflight(release_said(launch, release), hub)
    arguments, given = arguments_of(words[1:], preflight.knowledge.flags)
    platform = machine_asked(
        preflight.knowledge,
        words[0],
        nodes=nodes,
        env=env,
        without=without,
        cuda=cuda,
        memory_gib=memory_gib,
        given=given,
        num_gpus=gpus_said(launch, preflight.knowledge.roles),
    )
    return preflight, platform, arguments


def _with_gpu(words: list[str], memory_gib: float | None) -> tuple[list[str], float | None]:
    """The words behind the GPUs of this machine, which they must not name themselves."""
    gpu, memory = gpu_asked(None, True, _gpus(), memory_gib, "")
    return [gpu, *words], memory


def _with_model(words: list[str], model: str | None) -> tuple[list[str], str | None]:
    """The words from the GPU on, and the model, which may stand before it as ``recommend`` takes them.

    Raises InputError when what follows a model is meant as a GPU and is none.
    """
    if model is not None or not words or not _is_model(words[0]):
        return words, model
    if len(words) > 1 and not words[1].startswith("-") and not is_file(words[1]):
        parse_gpu(words[1], _gpus())
    return words[1:], words[0]


def _is_model(word: str) -> bool:
    """Whether a word is a checkpoint's id or folder rather than a GPU, a file or the start of a command."""
    from constraints import store

    if is_file(word) or is_gpu(word, _gpus()):
        return False
    return "/" in word or Path(word).is_dir() or any(one.id == word for one in store.catalogue().checkpoints)


def _gpus() -> Gpus:
    from constraints import store

    return store.knowledge_of(store.known_releases()[-1]).gpus


def _facts(found: Mapping[str, Value]) -> str:
    from . import listing

    return listing.facts(found)
