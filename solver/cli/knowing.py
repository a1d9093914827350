"""The commands that show or check the knowledge itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import completion
from .options import YES, Release
from .output import own_version, write


def rules(rule: Annotated[str | None, typer.Argument(metavar="[ID]")] = None, release: Release = None) -> int:
    """The rules of a release, or one of them whole."""
    from . import listing

    write(listing.rules(rule, release))
    return YES


def flags(flag: Annotated[str | None, typer.Argument(metavar="[FLAG]")] = None, release: Release = None) -> int:
    """SGLang's flags, or one of them whole."""
    from . import listing

    write(listing.flags(flag, release))
    return YES


def gpus() -> int:
    """The GPUs that are known."""
    from . import listing

    write(listing.gpus())
    return YES


def models() -> int:
    """The checkpoints that are known by name."""
    from . import listing

    write(listing.models())
    return YES


def profiles(
    profile: Annotated[
        str | None, typer.Argument(metavar="[PROFILE]", show_default=False, autocompletion=completion.profiles)
    ] = None,
) -> int:
    """What "better" can mean, or one of these profiles."""
    from . import listing

    write(listing.profiles(profile))
    return YES


def version() -> int:
    """The version of this program, and the releases of SGLang that were read."""
    from constraints import store

    write(f"sglang-preflight {own_version()}; SGLang {', '.join(store.known_releases())}")
    return YES


def schema() -> int:
    """The JSON schema of every answer that `--format json` gives."""
    from ..render import machine

    write(machine.schema_text())
    return YES


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
