"""Write the README's tour anew: every console block without `...` gets what its command prints now.

python tests/record_readme.py
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from solver.cli.app import run

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"(```console\n\$ ([^\n]+)\n)(.*?)(\n```)", re.DOTALL)


def printed(command: str) -> str:
    """What a command of the tour prints."""
    words = shlex.split(command)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        run(words[1:] if words[0] == "preflight" else words)
    return shown.getvalue().rstrip()


def renewed(block: re.Match[str]) -> str:
    """One block with its command's output; one that leaves lines out is left as it is."""
    head, command, shown, end = block.groups()
    return block.group(0) if "..." in shown.splitlines() else head + printed(command) + end


if __name__ == "__main__":
    README.write_text(BLOCK.sub(renewed, README.read_text(encoding="utf-8")), encoding="utf-8")
