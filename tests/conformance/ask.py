"""Commands -> records of what SGLang says of them, in the words of `compare.py`.

    python -m tests.conformance.ask --release 0.5.23 --in CASES.jsonl --out RECORDS.jsonl.gz --runner "PY oracle.py"
    python -m tests.conformance.ask --release 0.5.23 --in CASES.jsonl --out RECORDS.jsonl.gz --results RESULTS.jsonl

The runner is the one of `record.py`. Its results have ``verdict`` (ok or not), ``stage``, ``where``, ``where_kind``,
``message``, ``resolved`` and, if it was asked to trace, ``trace``. ``--sample N`` keeps N accepted commands, the
checkpoints by their ids: what CI replays.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.corpus import ids_by_folder
from tests.conformance.record import ask
from tests.conformance.traces import cut

_FOLDER = re.compile(r"/(?:[^\s/]+/)+")  # where the recorder's checkpoints lie is its own affair
STAGES = {"argparse": "parse", "attention_factory": "backend-init"}


def record_of(case: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """A case with its verdict; of SGLang's sentence its first words alone."""
    found: dict[str, Any] = {**case, "verdict": "ok" if answer["verdict"] == "ok" else "refused"}
    if found["verdict"] == "ok":
        found["resolved"] = answer["resolved"]
    else:
        stage = str(answer.get("stage") or "")
        found["stage"] = STAGES.get(stage, "args")
        found["where"] = str(answer.get("where") or "").removeprefix("sglang/")
        found["where_kind"] = str(answer.get("where_kind") or "")
        words = " ".join(str(answer.get("message")).split()[:9])
        found["words"] = f"{answer.get('error_type')}: {_FOLDER.sub('', words)}"
    if "trace" in answer:
        found["trace"] = cut(answer["trace"], answer["resolved"])
    return found


def sample(records: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Accepted commands, evenly chosen, on checkpoints of the catalogue."""
    ids = ids_by_folder()
    accepted = [one for one in records if one["verdict"] == "ok" and one["model"] in ids]
    chosen = accepted[:: max(1, len(accepted) // most)][:most]
    named = [[f"@{ids[word[1:]]}" if word.startswith("@") else word for word in one["args"]] for one in chosen]
    return [one | {"model": ids[one["model"]], "args": words} for one, words in zip(chosen, named, strict=True)]


def main() -> None:
    """Ask, or take what was answered, and write the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", required=True)
    parser.add_argument("--in", dest="cases", required=True, type=Path)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--out", required=True, type=Path)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--runner")
    how.add_argument("--results", type=Path)
    options = parser.parse_args()
    cases = [json.loads(line) for line in options.cases.read_text(encoding="utf-8").splitlines()]
    if options.results:
        lines = options.results.read_text(encoding="utf-8").splitlines()
        answers = {str(one["id"]): one for one in map(json.loads, lines)}
    else:
        answers = ask(options.runner, options.release, cases)
    if missing := [case["id"] for case in cases if case["id"] not in answers]:
        print(f"{len(missing)} cases were not answered, such as {missing[0]}")
    found = [record_of(case, answers[case["id"]]) for case in cases if case["id"] in answers]
    found = sample(found, options.sample) if options.sample else found
    text = "".join(json.dumps(one, sort_keys=True) + "\n" for one in found)
    options.out.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{len(found)} records, {sum(one['verdict'] != 'ok' for one in found)} refused")


if __name__ == "__main__":
    main()
