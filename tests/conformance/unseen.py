"""Recorded verdicts on checkpoints outside the catalogue <-> a file that holds their configs beside the cases.

    python -m tests.conformance.unseen --release 0.5.23 --models MODELS --out FILE RECORDS.jsonl.gz... [--most 150]

Every checkpoint of the records gives one command that SGLang accepts and one that it refuses, where there are such;
of the checkpoints a part is taken, evenly. Whether we agree is not asked.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.conformance.compare import records
from tests.conformance.corpus import compact, restore, usual

FILES = ("config.json", "hf_quant_config.json")
# Larger files list every layer of a quantized checkpoint.
LARGEST = 6000


def chosen(cases: Iterable[dict[str, Any]], models: Path, most: int) -> list[dict[str, Any]]:
    """One accepted and one refused command of some checkpoints."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for case in cases:
        small = all(path.stat().st_size <= LARGEST for path in (models / case["model"]).iterdir())
        if small and not any(word.startswith("@") for word in case["args"]):
            found.setdefault(case["model"], {}).setdefault(case["verdict"], case)
    names = sorted(found)
    taken = names[:: max(1, len(names) // most)][:most]
    return [case for name in taken for case in found[name].values()]


def write(target: Path, cases: list[dict[str, Any]], models: Path) -> None:
    """First line: the usual values; second: the files of every checkpoint; then a line a case."""
    names = sorted({case["model"] for case in cases})
    most = usual(cases)
    beside = {
        name: {file: _read(models / name / file) for file in FILES if (models / name / file).is_file()}
        for name in names
    }
    lines = [json.dumps({"usual": most}, sort_keys=True), json.dumps({"checkpoints": beside}, sort_keys=True)]
    lines += [json.dumps(compact(case, {name: name for name in names}, most), sort_keys=True) for case in cases]
    target.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def unpack(path: Path, models: Path) -> list[dict[str, Any]]:
    """The cases, whole again; the files of their checkpoints are written below ``models``."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        most, beside = json.loads(next(lines))["usual"], json.loads(next(lines))["checkpoints"]
        cases = [json.loads(line) for line in lines]
    for name, files in beside.items():
        (models / name).mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (models / name / file).write_text(json.dumps(content), encoding="utf-8")
    for case in cases:
        restore(case, most)
    return cases


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument("--release", required=True)
    parser.add_argument("--models", required=True, type=Path)
    parser.add_argument("--most", type=int, default=150)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    cases = chosen(records(options.records), options.models, options.most)
    write(options.out, cases, options.models)
    print(f"{options.release}: {len(cases)} cases, {sum(case['verdict'] != 'ok' for case in cases)} refused")


if __name__ == "__main__":
    main()
