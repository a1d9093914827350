"""The support matrix as commands for SGLang itself, and our cells against its verdicts.

    python -m tests.conformance.support --release 0.5.23 --gpus H100 B200 ... --out CASES.jsonl
    python -m tests.conformance.support --release 0.5.23 --records SUPPORT-0.5.23.jsonl.gz

The first writes a case for each cell of the default view on these GPUs, the second compares cells with what `ask.py`
recorded of them. A cell agrees when SGLang refuses what we call refused at a stage where SGLang itself refuses, starts
what we say works, changes or fails later, and ends with the value that we name.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from solver.api import Preflight
from solver.axes import gpus as products
from solver.check import VERDICT_STAGES
from solver.matrix import Cell, Column, Matrix
from tests.conformance.compare import records
from tests.conformance.corpus import ids_by_folder


def matrices(release: str, gpus: Sequence[str] = ()) -> Iterator[Matrix]:
    """The default view of a release, without a search for ways."""
    preflight = Preflight(release)
    for model in preflight.knowledge.roles["matrix.models"].split():
        yield preflight.matrix(model, columns=tuple(gpus), ways=False)


def cells(found: Iterable[Matrix]) -> Iterator[tuple[str, Column, Cell]]:
    """Every cell under its name."""
    for one in found:
        for column in one.columns:
            for cell in column.cells:
                yield f"{column.model}/{column.gpu}/{cell.value}", column, cell


def cases(found: Iterable[Matrix]) -> Iterator[dict[str, Any]]:
    """A command for each cell."""
    folders = {hf: folder for folder, hf in ids_by_folder().items()}
    for name, column, cell in cells(found):
        yield {
            "id": name,
            "gpu": column.gpu,
            "model": folders[column.model],
            "num_gpus": column.num_gpus,
            "args": list(cell.args),
        }


def disagreement(flag: str, column: Column, cell: Cell, record: Mapping[str, Any]) -> str:
    """What of a cell is not what SGLang did; empty where they agree."""
    rules = [hit.rule for hit in (*column.blocked, *cell.because)]
    ours = cell.state == "absent" or (
        cell.state == "refused" and (cell.refusal is not None or any(_early(rule) for rule in rules))
    )
    if cell.state != "refused":
        ours = ours or any(_early(hit.rule) for hit in column.blocked)
    theirs = record["verdict"] == "refused"
    if ours != theirs:
        return f"we: {cell.state}, SGLang: {record['verdict']} {record.get('where', '')}"
    value = record.get("resolved", {}).get(flag)
    if not theirs and cell.effective is not None and value != cell.effective:
        return f"we: {cell.effective}, SGLang: {value}"
    return ""


def _early(rule: Any) -> bool:
    return rule.kind == "error" and rule.stage in VERDICT_STAGES


def compare(found: Iterable[Matrix], recorded: Iterable[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """How many cells were compared, and those that differ."""
    known = {str(record["id"]): record for record in recorded}
    count, different = 0, []
    for matrix in found:
        for name, column, cell in cells([matrix]):
            if name in known:
                count += 1
                if said := disagreement(matrix.flag, column, cell, known[name]):
                    different.append(f"{name}: {said}")
    return count, different


def main() -> None:
    """Write the cases, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", required=True)
    parser.add_argument("--gpus", nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--records", type=Path)
    options = parser.parse_args()
    if options.out is not None:
        text = "".join(json.dumps(case) + "\n" for case in cases(matrices(options.release, options.gpus)))
        options.out.write_text(text, encoding="utf-8")
        return
    recorded = list(records([options.records]))
    gpus = dict.fromkeys(str(one["gpu"]) for one in recorded)
    count, different = compare(matrices(options.release, tuple(gpus)), recorded)
    print("\n".join(different))
    print(f"{count - len(different)} of {count} cells on {len(gpus)} GPUs agree")
    catalogue = products(Preflight(options.release).knowledge)
    played = [name for name in catalogue if name in gpus]
    print(f"of {len(catalogue)} GPUs of the catalogue nobody recorded {len(catalogue) - len(played)}: ", end="")
    print(", ".join(name for name in catalogue if name not in gpus))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
