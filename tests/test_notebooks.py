"""Every notebook runs from top to bottom, by the public API alone, and what is committed of its outputs is small."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


# What a committed notebook may weigh, pictures and all.
MOST_BYTES = 250_000
named = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


@named
@pytest.mark.filterwarnings("ignore")
def test_notebook_runs(path: Path) -> None:
    for needed in ("ipywidgets", "matplotlib", "pandas"):
        pytest.importorskip(needed, reason="the extra `notebook` is not installed")
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    assert any(cell.outputs for cell in notebook.cells if cell.cell_type == "code")


@named
def test_notebook_is_small_and_public(path: Path) -> None:
    assert path.stat().st_size < MOST_BYTES
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(
        re.search(r"from (solver|constraints)\.|import (solver|constraints)\.", cell.source) for cell in code
    )
    assert all(cell.execution_count for cell in code), "run it before it is committed"
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)
