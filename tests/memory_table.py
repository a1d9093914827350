"""Public start-up logs against the memory estimate -> the table of docs/memory.md.

python tests/memory_table.py          print the table
python tests/memory_table.py --write  put it into docs/memory.md
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from solver import Preflight
from solver.estimate.memory import Memory, memory
from solver.gpu import parse_gpu

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "memory.md"
MARKS = re.compile(r"(<!-- table -->\n).*(<!-- end of table -->)", re.DOTALL)
GIB = 1024  # MiB


@dataclass(frozen=True, slots=True)
class Startup:
    """One report and what is estimated for it."""

    entry: Mapping[str, Any]
    estimate: Memory
    fraction: float
    tests: bool

    @property
    def weights(self) -> float | None:
        """By how much the estimated weights differ, as a share."""
        said = None if "own_format" in self.entry else self.entry.get("weights")
        return None if said is None else self.estimate.weights.likely / GIB / said - 1

    @property
    def row(self) -> float | None:
        """By how much the bytes of a token differ, as a share."""
        if "kv_gib" not in self.entry or self.estimate.token_bytes is None:
            return None
        return float(self.estimate.token_bytes * self.entry["tokens"] / (self.entry["kv_gib"] * 2**30) - 1)

    @property
    def tokens(self) -> float | None:
        """By how much the tokens of the pool differ, where the whole command is known."""
        if "tokens" not in self.entry or self.estimate.tokens is None or {"note", "own_format"} & set(self.entry):
            return None
        return self.estimate.tokens.likely / float(self.entry["tokens"]) - 1

    @property
    def pool(self) -> float | None:
        """The same with the free memory and the weights that were reported: how the pool is cut, and nothing else."""
        entry = self.entry
        if not {"tokens", "free", "weights"} <= set(entry) or "note" in entry or not self.estimate.token_bytes:
            return None
        left = entry["free"] * self.fraction - entry["weights"]
        return float(left * 2**30 / self.estimate.token_bytes / entry["tokens"] - 1)

    @property
    def inside(self) -> bool | None:
        """Whether the reported tokens lie in the interval."""
        if self.tokens is None or self.estimate.tokens is None:
            return None
        return self.entry["tokens"] in self.estimate.tokens

    @property
    def outcome(self) -> bool | None:
        """Whether it fits, as reported: a pool of tokens means that it did."""
        if "fits" in self.entry:
            return bool(self.entry["fits"])
        return True if self.tokens is not None else None


@cache
def _preflight() -> Preflight:
    return Preflight()


def entries() -> list[dict[str, Any]]:
    """Every report of the data, as written."""
    found: list[dict[str, Any]] = []
    for path in sorted((HERE / "data" / "memory").glob("*.yaml")):
        found += yaml.safe_load(path.read_text(encoding="utf-8"))["startups"]
    return found


def startups() -> Iterator[Startup]:
    """Every report with its estimate."""
    preflight = _preflight()
    for entry in entries():
        platform = replace(preflight.machine(entry["gpu"]), environment=tuple(entry.get("env", {}).items()))
        if "gpu_mib" in entry:
            _, gpu = parse_gpu(entry["gpu"], preflight.knowledge.gpus, memory_mib=entry["gpu_mib"])
            platform = replace(platform, gpu=gpu)
        words = shlex.split(entry.get("args", ""))
        if "config" in entry:
            words += ["--json-model-override-args", json.dumps(entry["config"])]
        checked = preflight.engine.check(entry["model"], platform, words)
        assert checked.resolution is not None, entry["id"]
        found = memory(preflight.knowledge.names, checked.resolution.values)
        assert found is not None, entry["id"]
        fraction = checked.resolution.values["mem_fraction_static"]
        assert isinstance(fraction, float)
        yield Startup(entry, found, fraction, tests(entry))


def tests(entry: Mapping[str, Any]) -> bool:
    """Whether a report tests what others calibrate: a bit of its address decides; the first ones keep their half."""
    if "half" in entry:
        return bool(entry["half"] == "test")
    return hashlib.sha256(entry["source"].encode()).digest()[0] % 2 == 1


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f} %"


def table(found: list[Startup]) -> str:
    """The table as Markdown, with a line of sums."""
    heads = ("report", "half", "weights", "bytes of a token", "pool", "tokens", "inside", "fits: said, estimated")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in found:
        name = f"[{one.entry['id']}]({one.entry['source']})"
        inside = "" if one.inside is None else "yes" if one.inside else "no"
        said = "" if one.outcome is None else f"{_word(one.outcome)}, {_word(one.estimate.fits)}"
        half = "test" if one.tests else "calibrate"
        shares = " | ".join(_percent(share) for share in (one.weights, one.row, one.pool, one.tokens))
        lines.append(f"| {name} | {half} | {shares} | {inside} | {said} |")
    lines += ["", summary(found, "all"), summary([one for one in found if one.tests], "the test half"), ""]
    return "\n".join(lines)


def _word(fits: bool | None) -> str:
    return {True: "yes", False: "no", None: "perhaps"}[fits]


def summary(found: list[Startup], name: str) -> str:
    """Medians of the absolute errors, and how often the interval and the outcome were right."""
    weights = [abs(one.weights) for one in found if one.weights is not None]
    rows = [abs(one.row) for one in found if one.row is not None]
    pools = [abs(one.pool) for one in found if one.pool is not None]
    tokens = [abs(one.tokens) for one in found if one.tokens is not None]
    inside = [one.inside for one in found if one.inside is not None]
    outcomes = [one.estimate.fits in (one.outcome, None) for one in found if one.outcome is not None]
    return (
        f"- Of {name} ({len(found)}): weights {100 * median(weights):.1f} % median of {len(weights)}, bytes of a token "
        f"{100 * max(rows):.1f} % at most of {len(rows)}, pool {100 * median(pools):.1f} % median of {len(pools)}, "
        f"tokens {100 * median(tokens):.1f} % median of {len(tokens)}, "
        f"inside the interval {sum(inside)} of {len(inside)}, outcome not wrong {sum(outcomes)} of {len(outcomes)}."
    )


if __name__ == "__main__":
    text = table(list(startups()))
    if "--write" in sys.argv:
        DOCUMENT.write_text(MARKS.sub(lambda mark: mark[1] + text + mark[2], DOCUMENT.read_text(encoding="utf-8")))
    else:
        print(text)
