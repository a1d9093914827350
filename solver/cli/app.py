"""The command line: the commands by name, and what becomes of a question that was wrong."""

from __future__ import annotations

import typer

from constraints.errors import KnowledgeError

from ..errors import Disagreement, InputError, TooLarge
from . import checking, explaining, knowing, matrixing, recommending
from .options import FAULT, WRONG, YES
from .output import printable

app = typer.Typer(
    name="preflight",
    help="Which SGLang launch configurations hold on which GPU, and why not. Offline.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
# Words that look like options are SGLang's own there.
_SGLANG_WORDS = {"ignore_unknown_options": True}
app.command()(recommending.recommend)
app.command(context_settings=_SGLANG_WORDS)(checking.check)
app.command(context_settings=_SGLANG_WORDS)(checking.resolve)
app.command()(explaining.explain)
app.command()(explaining.diagnose)
app.command()(matrixing.matrix)
app.command()(knowing.rules)
app.command(context_settings=_SGLANG_WORDS)(knowing.flags)
app.command()(knowing.gpus)
app.command()(knowing.models)
app.command()(knowing.profiles)
app.command()(knowing.schema)
app.command()(knowing.lint)
# The base of what typer says of bad options; it has no public name of its own there.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def run(words: list[str]) -> int:
    """Run one command line; what is wrong becomes a message on standard error and an exit code."""
    from ..render.sentence import cut

    try:
        outcome = app(args=words, standalone_mode=False)
        return outcome if isinstance(outcome, int) else YES
    except InputError as error:
        typer.echo(printable(cut(_wrong(error))), err=True)
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
        typer.echo(printable(cut(f"{_usage(str(error))}\nSee preflight --help.")), err=True)
        return WRONG
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        return YES


def _usage(text: str) -> str:
    """What typer says of a bad option, in plain words."""
    for theirs, ours in (("valid int range", "whole number in range"), ("valid integer", "whole number")):
        text = text.replace(theirs, ours)
    return text.replace("valid float", "number")


def _wrong(error: InputError) -> str:
    message = error.message if not error.where or error.where in error.message else f"{error.where}: {error.message}"
    if error.near and not (error.hint or "").startswith("Did you mean"):
        message += "\nDid you mean " + " or ".join(error.near) + "?"
    return message + (f"\n{error.hint}" if error.hint else "")
