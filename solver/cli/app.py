"""The command line: the commands by name, and what becomes of a question that was wrong."""

from __future__ import annotations

import contextlib
import os
import sys
from importlib import import_module

import typer

from constraints.errors import KnowledgeError
from constraints.plainly import plainly

from ..errors import Disagreement, InputError, TooLarge
from ..render.visible import visible
from .options import FAULT, REPORT, WRONG, YES, spelled

# Each command, and the module of this package that holds it.
_COMMANDS = {
    "recommend": "recommending",
    "check": "checking",
    "resolve": "checking",
    "explain": "explaining",
    "diagnose": "explaining",
    "matrix": "matrixing",
    "rules": "knowing",
    "flags": "knowing",
    "gpus": "knowing",
    "models": "knowing",
    "profiles": "knowing",
    "schema": "knowing",
    "lint": "knowing",
    "version": "knowing",
}
# Words that look like options are SGLang's own there.
_SGLANG_WORDS = frozenset({"check", "resolve", "flags"})
# The base of what typer says of bad options; it has no public name of its own there.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def run(words: list[str]) -> int:
    """Run one command line; what is wrong becomes a message on standard error and an exit code."""
    words = ["version"] if words == ["--version"] else words
    try:
        outcome = _application(words)(args=words, standalone_mode=False)
        sys.stdout.flush()
        _warn_of_store()
        return outcome if isinstance(outcome, int) else YES
    except InputError as error:
        _told(_wrong(error), error.where or "")
        return WRONG
    except KnowledgeError as error:
        typer.echo(f"The knowledge has faults:\n{error}", err=True)
        return FAULT
    except (Disagreement, TooLarge) as error:
        typer.echo(f"{REPORT.rstrip('.')}: {error}", err=True)
        return FAULT
    except typer.Exit as exit_:
        return int(exit_.exit_code)
    except UsageError as error:
        if said := _usage(error):  # nothing is said where the whole help was shown
            _told(f"{said}\nSee preflight --help.")
        return WRONG
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        return YES
    except OSError as fault:  # a full disk, a file that may not be written, a folder that is gone
        _told(f"{fault.filename or 'the answer'}: {plainly(fault)}")
        if fault.filename is None:
            _give_up_output()
        return WRONG
    except Exception:  # Python's own exit code for it, 1, would say that the answer is no
        sys.excepthook(*sys.exc_info())
        typer.echo(REPORT, err=True)
        return FAULT


def _give_up_output() -> None:
    """Let nothing be left to write at the end: Python would try again, and exit with a code of its own."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn_of_store() -> None:
    from constraints import store

    if store.unkept():
        _told(
            "The knowledge was read anew, which takes seconds: it cannot be kept.\n"
            "Set XDG_CACHE_HOME to a folder that you alone can write to."
        )


def _told(message: str, place: str = "") -> None:
    """A message on standard error, of words that a person reads to their end, and of the whole ``place`` of a fault."""
    from ..render.sentence import cut

    typer.echo(visible(cut(message, place)), err=True)


# Typer's words for kinds of values, and plain ones: also a number of too many digits is none to it.
_KINDS = {
    "valid int range": "whole number in range",
    "valid integer": "whole number in range",
    "valid int": "whole number in range",
    "valid float": "number",
}


def _usage(error: Exception) -> str:
    """What typer says of a bad option, in plain words, behind the option it speaks of."""
    said = str(error)
    for theirs, ours in _KINDS.items():
        said = said.replace(theirs, ours)
    named = getattr(getattr(error, "param", None), "opts", ())
    option = next((one for one in named if one.startswith("--")), "")
    return f"{option}: {said}" if option and option not in said else said


def _application(words: list[str]) -> typer.Typer:
    """The commands, of which only the named one is imported and built: the others would be half of a start."""
    app = typer.Typer(
        name="preflight",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )
    # What stands before the commands; without it a single command would lose its name.
    app.callback(help="Which SGLang launch configurations hold on which GPU, and why not. Offline.")(lambda: None)
    for name in words[:1] if words[:1] and words[0] in _COMMANDS else _COMMANDS:
        command = getattr(import_module(f".{_COMMANDS[name]}", __package__), name)
        app.command(context_settings={"ignore_unknown_options": True} if name in _SGLANG_WORDS else None)(command)
    return app


def _wrong(error: InputError) -> str:
    where = spelled(error.where)
    message = error.message if not where or where in error.message else f"{where}: {error.message}"
    if error.near and not (error.hint or "").startswith("Did you mean"):
        message += "\nDid you mean " + " or ".join(error.near) + "?"
    return message + (f"\n{error.hint}" if error.hint else "")
