"""The commands and their options; exit codes: 0 yes, 1 the answer is no, 2 the question was wrong, 3 our fault."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constraints.errors import KnowledgeError
from constraints.values import Value

from ..errors import Disagreement, InputError, TooLarge
from ..machine import platform_of
from .inputs import arguments_of, environment_of, kept_of, pins_of, text_of

if TYPE_CHECKING:
    from ..api import Preflight
    from ..facts import Platform

app = typer.Typer(
    name="preflight",
    help="Which SGLang launch configurations hold on which GPU, and why not. Offline.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
YES, NO, WRONG, FAULT = 0, 1, 2, 3
# The base of what typer says of bad options; it has no public name of its own there.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class Format(StrEnum):
    """How an answer is written."""

    text = "text"
    json = "json"
    yaml = "yaml"
    command = "command"


class Which(StrEnum):
    """What may be another one in a reverse question."""

    gpu = "gpu"
    number = "count"
    release = "release"
    model = "model"


ASPECT = {Which.gpu: "gpu", Which.number: "num_gpus", Which.release: "release", Which.model: "model"}
# GPUs of a usual node: what "for which GPU" asks about when no number is given.
NODE = 8
Release = Annotated[str | None, typer.Option("--release", help="SGLang release; the newest known by default.")]
Output = Annotated[Format, typer.Option("--format", help="How to write the answer.")]
Env = Annotated[list[str] | None, typer.Option("--env", metavar="K=V", help="An environment variable; repeatable.")]
Without = Annotated[list[str] | None, typer.Option("--without", metavar="PACKAGE", help="A package that is missing.")]
Cuda = Annotated[str | None, typer.Option("--cuda", help="CUDA version, such as 12.9.")]
Nodes = Annotated[int, typer.Option("--nodes", help="How many nodes of these GPUs.")]
Memory = Annotated[float | None, typer.Option("--gpu-memory", metavar="GiB", help="Memory of one GPU.")]
Sets = Annotated[list[str] | None, typer.Option("--set", metavar="FLAG=VALUE", help="Fix a flag's effective value.")]
Gpu = Annotated[str, typer.Argument(metavar="GPU", help="Such as B200, 8xB200 or sm100.", show_default=False)]
Keep = Annotated[
    str | None,
    typer.Option("--keep", metavar="NAME,...", help="Flags, or gpu, num_gpus, release, model, that may not change."),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="HF id, folder or config.json.", show_default=False)]


@app.command()
def recommend(
    model: Model,
    gpu: Gpu,
    profile: Annotated[
        str, typer.Option("--profile", help="What better means; see `preflight profiles`.")
    ] = "balanced",
    sets: Sets = None,
    top: Annotated[int, typer.Option("--top", min=1, max=1000, help="How many to show.")] = 5,
    release: Release = None,
    env: Env = None,
    without: Without = None,
    cuda: Cuda = None,
    nodes: Nodes = 1,
    gpu_memory: Memory = None,
    output: Output = Format.text,
) -> int:
    """The best configurations for a model on a GPU, and how many hold in all."""
    from ..api import Preflight
    from ..render import conflict, machine, text

    preflight = Preflight(release)
    platform = platform_of(
        preflight.knowledge,
        gpu,
        nodes=nodes,
        env=environment_of(env or []),
        without=without or [],
        cuda=cuda,
        memory_gib=gpu_memory,
    )
    pins = pins_of(sets or [], preflight.knowledge.flags)
    found = preflight.recommend(model, platform, profile=profile, pins=pins, top=top)
    if output is Format.command:
        write("\n\n".join(conflict.command(found.subject, one.args) for one in found.solutions) + "\n")
    else:
        write(_formatted(output, text.recommendation(found), machine.recommendation(found)))
    return YES if found.solutions else NO


@app.command(context_settings={"ignore_unknown_options": True})
def check(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[GPU] [-- COMMAND OR FLAGS]", help="The GPU, then what you would launch."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The model, when the flags do not name one.")] = None,
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
    output: Output = Format.text,
) -> int:
    """Does this launch command hold, and what will SGLang really run?"""
    from ..api import Preflight
    from ..render import conflict, machine, text

    if batch_file is not None:
        from . import batch

        return batch.run(batch_file, release)
    if not words:
        raise InputError("no GPU is named", "check", "Write: preflight check 8xB200 --model MODEL -- --tp 8")
    preflight = Preflight(release)
    arguments, given = arguments_of(words[1:])
    platform = platform_of(
        preflight.knowledge,
        words[0],
        nodes=nodes,
        env={**given, **environment_of(env or [])},
        without=without or [],
        cuda=cuda,
        memory_gib=gpu_memory,
    )
    report = preflight.check(
        model, platform, arguments, Path.cwd(), why=why, keep=kept_of(keep, preflight.knowledge.flags)
    )
    shown = text.check(report) + (_facts(report.facts) if show_facts and output is Format.text else "")
    if output is Format.command:
        shown = conflict.command(report.subject, arguments) + "\n"
    write(_formatted(output, shown, machine.check(report, facts=show_facts)))
    return YES if report.holds else NO


@app.command(context_settings={"ignore_unknown_options": True})
def resolve(
    words: Annotated[list[str] | None, typer.Argument(metavar="GPU [-- COMMAND OR FLAGS]")] = None,
    model: Annotated[str | None, typer.Option("--model", help="The model, when the flags do not name one.")] = None,
    release: Release = None,
    env: Env = None,
    without: Without = None,
    cuda: Cuda = None,
    nodes: Nodes = 1,
    output: Output = Format.text,
) -> int:
    """The effective configuration, write by write, in SGLang's order."""
    from ..api import Preflight
    from ..render import machine, text

    if not words:
        raise InputError("no GPU is named", "resolve", "Write: preflight resolve 8xB200 --model MODEL -- --tp 8")
    preflight = Preflight(release)
    arguments, given = arguments_of(words[1:])
    platform = platform_of(
        preflight.knowledge,
        words[0],
        nodes=nodes,
        env={**given, **environment_of(env or [])},
        without=without or [],
        cuda=cuda,
    )
    report = preflight.check(model, platform, arguments, Path.cwd())
    data = machine.check(report)
    data["log"] = [machine.change(one) for one in report.log]
    write(_formatted(output, text.log(report), data))
    return NO if report.refused else YES


@app.command()
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
    output: Output = Format.text,
) -> int:
    """Why nothing holds: every minimal conflict, and the cheapest changes that help."""
    from ..api import Preflight
    from ..render import machine, text

    if (args is None) == (not sets):
        raise InputError("say what to explain", "explain", 'Give either --set FLAG=VALUE or --args "FLAGS".')
    if gpu is None and which is not Which.gpu:
        raise InputError("no GPU is named", "explain", "Write: preflight explain MODEL 8xB200 --set FLAG=VALUE")
    preflight = Preflight(release)
    arguments, given = arguments_of([args]) if args and not args.lstrip().startswith("-") else (_split(args), {})
    platform = platform_of(
        preflight.knowledge,
        gpu or f"{NODE}x{next(one.name for one in preflight.knowledge.gpus.values() if not one.generic)}",
        nodes=nodes,
        env={**given, **environment_of(env or [])},
        without=without or [],
        cuda=cuda,
    )
    if which is not None:
        return _which(preflight, which, model, platform, sets, arguments if args is not None else None, output)
    kept = kept_of(keep, preflight.knowledge.flags)
    if args is not None:
        found = preflight.explain_command(model, platform, arguments, kept)
    else:
        found = preflight.explain(model, platform, pins_of(sets or [], preflight.knowledge.flags), kept)
    write(_formatted(output, text.explanation(found), machine.explanation(found)))
    return YES if found.satisfiable else NO


def _which(
    preflight: Preflight,
    which: Which,
    model: str,
    platform: Platform,
    sets: list[str] | None,
    arguments: list[str] | None,
    output: Format,
) -> int:
    from ..render import survey
    from .progress import progress

    pins = pins_of(sets or [], preflight.knowledge.flags)
    with progress() as shown:
        found = preflight.which(ASPECT[which], model, platform, pins=pins, arguments=arguments, progress=shown)
    text = survey.command(found) if output is Format.command else survey.survey(found)
    write(_formatted(output, text, survey.data(found)))
    return YES if any(one.works for one in found.answers) else NO


def _split(text: str | None) -> list[str]:
    import shlex

    try:
        return shlex.split(text or "")
    except ValueError as fault:
        raise InputError(f"the flags cannot be split into words: {fault}", "--args") from None


@app.command()
def diagnose(
    log: Annotated[str, typer.Argument(metavar="FILE|-", help="A log or traceback.", show_default=False)],
    gpu: Annotated[str | None, typer.Option("--gpu", help="Such as 8xB200, where the log names none.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="The model, where the log names none.")] = None,
    release: Release = None,
    output: Output = Format.text,
) -> int:
    """From a log or traceback to the rule, its cause, the way out and what would fail next."""
    from ..api import Preflight
    from ..render import diagnosis

    found = Preflight(release).diagnose(text_of(log), model=model, gpu=gpu)
    write(_formatted(output, diagnosis.diagnosis(found), diagnosis.data(found)))
    return YES if found.recognised else NO


@app.command()
def rules(rule: Annotated[str | None, typer.Argument(metavar="[ID]")] = None, release: Release = None) -> int:
    """The rules of a release, or one of them whole."""
    from . import listing

    write(listing.rules(rule, release))
    return YES


@app.command(context_settings={"ignore_unknown_options": True})
def flags(flag: Annotated[str | None, typer.Argument(metavar="[FLAG]")] = None, release: Release = None) -> int:
    """SGLang's flags, or one of them whole."""
    from . import listing

    write(listing.flags(flag, release))
    return YES


@app.command()
def gpus() -> int:
    """The GPUs that are known."""
    from . import listing

    write(listing.gpus())
    return YES


@app.command()
def models() -> int:
    """The checkpoints that are known by name."""
    from . import listing

    write(listing.models())
    return YES


@app.command()
def profiles() -> int:
    """What "better" can mean."""
    from . import listing

    write(listing.profiles())
    return YES


@app.command()
def lint(
    sources: Annotated[
        Path | None,
        typer.Option("--sources", metavar="TREE", help="An unpacked SGLang wheel to hold anchors against."),
    ] = None,
    release: Release = None,
    coverage: Annotated[bool, typer.Option("--coverage", help="List raise sites by reach; needs --sources.")] = False,
) -> int:
    """Faults in the knowledge."""

    from . import linting

    return linting.run(sources, release, coverage)


def _facts(found: Mapping[str, Value]) -> str:
    from . import listing

    return listing.facts(found)


def write(shown: str) -> None:
    """Text to standard output."""
    typer.echo(shown, nl=not shown.endswith("\n"))


def _formatted(output: Format, shown: str, data: dict[str, Any]) -> str:
    from ..render import machine

    if output is Format.json:
        return machine.as_json(data)
    return machine.as_yaml(data) if output is Format.yaml else shown


def run(words: list[str]) -> int:
    """Run one command line; what is wrong becomes a message on standard error and an exit code."""
    try:
        outcome = app(args=words, standalone_mode=False)
        return outcome if isinstance(outcome, int) else YES
    except InputError as error:
        typer.echo(_wrong(error), err=True)
        return WRONG
    except KnowledgeError as error:
        typer.echo(f"The knowledge has faults:\n{error}", err=True)
        return FAULT
    except (Disagreement, TooLarge) as error:
        typer.echo(f"This is a fault of sglang-preflight, please report it: {error}", err=True)
        return FAULT
    except typer.Exit as exit_:
        return int(exit_.exit_code)
    except UsageError as error:
        typer.echo(f"{error}\nSee preflight --help.", err=True)
        return WRONG
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        return YES


def _wrong(error: InputError) -> str:
    message = error.message if not error.where or error.where in error.message else f"{error.where}: {error.message}"
    if error.near and not (error.hint or "").startswith("Did you mean"):
        message += "\nDid you mean " + " or ".join(error.near) + "?"
    return message + (f"\n{error.hint}" if error.hint else "")
