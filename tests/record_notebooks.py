"""The notebooks -> their outputs anew, as small as they are committed: `python tests/record_notebooks.py [NAME]...`.

It needs the extras `notebook` and `test`. Only what GitHub shows of an output is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
# What stands for an object whose own text is an address, or a tree of widgets.
_SHOWN = {"image/png": "picture", "application/vnd.jupyter.widget-view+json": "pickers and their answer"}


def record(path: Path) -> None:
    """Run one notebook and keep its outputs."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    metadata = dict(notebook.metadata)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False)
    client.execute(cwd=str(NOTEBOOKS))
    notebook.metadata.clear()
    notebook.metadata.update(metadata)
    for output in (one for cell in notebook.cells for one in cell.get("outputs", ())):
        if "data" in output:
            output["data"] = _kept(output["data"])
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def _kept(data: dict[str, Any]) -> dict[str, Any]:
    kept = {kind: text for kind, text in data.items() if kind in ("text/plain", "text/html", "image/png")}
    text = next((text for kind, text in _SHOWN.items() if kind in data), None)
    return kept if text is None else {**kept, "text/plain": text}


if __name__ == "__main__":
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not sys.argv[1:] or file.stem in sys.argv[1:]:
            print(file.name, file=sys.stderr)
            record(file)
