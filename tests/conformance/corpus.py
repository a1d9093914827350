"""Recorded verdicts of SGLang -> a compact file of ours: ids of the catalogue, effective values that are unusual.

    python tests/conformance/corpus.py --release 0.5.23 --out tests/conformance --every 5 RECORDS.jsonl.gz...

Files whose name starts with `random`, `wild` or `odd` are thinned to ``--most`` cases, the same ones each time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from constraints.models_load import load_catalogue
from tests.conformance.compare import records

KEPT = ("id", "model", "gpu", "num_gpus", "args", "verdict", "stage", "where", "where_kind", "words")
_THINNED = ("random", "wild", "odd")


def ids_by_folder() -> dict[str, str]:
    """The id of each checkpoint of the catalogue by the name of its folder."""
    return {Path(one.file).stem: one.id for one in reversed(load_catalogue().checkpoints)}


def usual(cases: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The most frequent effective value of each field."""
    counts: dict[str, Counter[str]] = {}
    for case in cases:
        for name, value in case.get("resolved", {}).items():
            counts.setdefault(name, Counter())[json.dumps(value)] += 1
    return {name: json.loads(found.most_common(1)[0][0]) for name, found in sorted(counts.items())}


def compact(case: Mapping[str, Any], ids: Mapping[str, str], most: Mapping[str, Any]) -> dict[str, Any]:
    """A case in our spelling; fields of the record that are absent are named, usual values are left out."""
    short = {key: case[key] for key in KEPT if case.get(key) not in (None, "")}
    short["model"] = ids[case["model"]]
    short["args"] = [f"@{ids[word[1:]]}" if word.startswith("@") else word for word in case["args"]]
    if case["verdict"] == "ok":
        own = case["resolved"]
        short["differs"] = {name: own[name] for name in sorted(own) if own[name] != most[name]}
        if absent := [name for name in most if name not in own]:
            short["absent"] = absent
    return short


def thin(path: Path, cases: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """A drawn file down to ``most`` cases, rare refusals first kept; others whole."""
    if not path.name.startswith(_THINNED) or len(cases) <= most:
        return cases
    chosen = random.Random(path.name).sample(range(len(cases)), most)
    seen: set[str] = set()
    for place, case in enumerate(cases):  # each site that refuses is seen at least once
        if case.get("where") and case["where"] not in seen:
            seen.add(case["where"])
            chosen.append(place)
    return [cases[place] for place in sorted(set(chosen))]


def write(target: Path, groups: Mapping[str, list[dict[str, Any]]]) -> None:
    """First line: the usual values; then a line a case, with the ``file`` it comes from."""
    ids = ids_by_folder()
    most = usual(case for cases in groups.values() for case in cases)
    lines = [json.dumps({"usual": most}, sort_keys=True)]
    for name, cases in groups.items():
        lines += [json.dumps({"file": name, **compact(case, ids, most)}, sort_keys=True) for case in cases]
    target.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def read(path: Path) -> list[dict[str, Any]]:
    """The cases of a compact file, whole again; `@id` in arguments is a checkpoint."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        most: dict[str, Any] = json.loads(next(lines))["usual"]
        cases = [json.loads(line) for line in lines]
    for case in cases:
        restore(case, most)
    return cases


def restore(case: dict[str, Any], most: Mapping[str, Any]) -> None:
    """Put the usual values back into a case."""
    if case["verdict"] == "ok":
        absent, own = set(case.pop("absent", ())), {**most, **case.pop("differs")}
        case["resolved"] = {name: value for name, value in own.items() if name not in absent}


def main() -> None:
    """Write the file of one release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument("--release", required=True)
    parser.add_argument("--most", type=int, default=800, help="cases kept of each drawn file")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent)
    options = parser.parse_args()
    groups = {}
    for path in options.records:
        groups[path.name.split("-")[0]] = thin(path, list(records([path])), options.most)
    write(options.out / f"corpus-{options.release}.jsonl.gz", groups)
    print(", ".join(f"{name} {len(cases)}" for name, cases in groups.items()))


if __name__ == "__main__":
    main()
