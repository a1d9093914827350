"""Options that commands share; exit codes: 0 yes, 1 the answer is no, 2 the question was wrong, 3 our fault."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from . import completion

YES, NO, WRONG, FAULT = 0, 1, 2, 3
REPORT = "This is a fault of sglang-preflight, please report it."

# Parameters of the API that are options here, and those that are called something else.
_PARAMETERS = frozenset(
    [
        "release",
        "plot_kind",
        "profile",
        "nodes",
        "without",
        "cuda",
        "gpu_memory",
        "columns",
        "servers",
        "max_gpus",
        "revision",
        "fetch",
        "input_len",
        "output_len",
        "concurrency",
        "context_length",
    ]
)
_OTHERWISE = {"front": "--pareto"}


def spelled(where: str | None) -> str:
    """Where a fault lies, as it is called on the command line."""
    if where in _PARAMETERS:
        return "--" + str(where).replace("_", "-")
    return _OTHERWISE.get(where or "", where or "")


class Format(StrEnum):
    """How an answer is written."""

    text = "text"
    json = "json"
    yaml = "yaml"
    command = "command"


class CheckFormat(StrEnum):
    """How the answer of a check is written: for people, for programs, for the tools of a CI."""

    text = "text"
    json = "json"
    yaml = "yaml"
    command = "command"
    sarif = "sarif"
    github = "github"
    junit = "junit"


class LaunchFormat(StrEnum):
    """How an answer with commands in it is written: also as the files that run them."""

    text = "text"
    json = "json"
    yaml = "yaml"
    command = "command"
    docker = "docker"
    compose = "compose"
    kubernetes = "kubernetes"
    config = "config"


Release = Annotated[
    str | None,
    typer.Option("--release", help="SGLang release; the newest known by default.", autocompletion=completion.releases),
]
Output = Annotated[Format, typer.Option("--format", help="How to write the answer.")]
CheckOutput = Annotated[CheckFormat, typer.Option("--format", help="How to write the answer.")]
LaunchOutput = Annotated[LaunchFormat, typer.Option("--format", help="How to write the answer.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Problems alone, a line each.")]
Env = Annotated[list[str] | None, typer.Option("--env", metavar="K=V", help="An environment variable; repeatable.")]
Without = Annotated[list[str] | None, typer.Option("--without", metavar="PACKAGE", help="A package that is missing.")]
Cuda = Annotated[str | None, typer.Option("--cuda", help="CUDA version, such as 12.9.")]
Nodes = Annotated[int, typer.Option("--nodes", help="How many nodes of these GPUs.")]
Memory = Annotated[float | None, typer.Option("--gpu-memory", metavar="GiB", help="Memory of one GPU.")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FLAG=VALUE", help="Fix a flag's effective value.", autocompletion=completion.flags),
]
Gpu = Annotated[
    str | None,
    typer.Argument(
        metavar="GPU",
        help="Such as B200, 8xB200 or sm100; not with --here.",
        show_default=False,
        autocompletion=completion.gpus,
    ),
]
Here = Annotated[bool, typer.Option("--here", help="Take the GPUs of this machine; needs the extra `here`.")]
Fetch = Annotated[bool, typer.Option("--fetch", help="Fetch a config.json that is not here; needs the extra `hub`.")]
Revision = Annotated[
    str | None, typer.Option("--revision", metavar="REV", help="Branch, tag or commit of the checkpoint.")
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it too, as .svg or .png; needs the extra `plot`.")
]
Keep = Annotated[
    str | None,
    typer.Option("--keep", metavar="NAME,...", help="Flags, or gpu, num_gpus, release, model, that may not change."),
]
Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="HF id, folder or config.json.", show_default=False, autocompletion=completion.models
    ),
]
