"""Recorded SGLang verdicts -> how far the forward reader agrees, and every disagreement by cause.

    python tests/conformance/compare.py --release 0.5.23 --models MODELS RECORDS.jsonl.gz... [--top 40] [--only TEXT]

A record is one JSON line {id, gpu, model, num_gpus, args, verdict, where, stage, resolved}; ``@name`` in an argument
and ``model`` stand for folders below MODELS.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from constraints.load import load
from constraints.models_load import load_catalogue, load_models
from constraints.values import Value
from solver.check import VERDICT_STAGES, Checked, Engine
from solver.errors import InputError
from solver.facts import Platform
from solver.gpu import parse_gpu

# Derived by the recorder, not fields of ServerArgs; the last three have a name of ours.
DERIVED = {
    "attention_backend_class": None,
    "model_quantization": None,
    "model_dtype": None,
    "use_mla_backend": None,
    "uses_mamba_radix_cache": "uses_mamba_radix_cache",
    "kv_cache_torch_dtype": "kv_cache.torch_dtype",
    "cuda_graph_decode_backend": "cuda_graph.decode.backend",
    "cuda_graph_prefill_backend": "cuda_graph.prefill.backend",
}


def records(paths: list[Path]) -> Iterator[dict[str, Any]]:
    """Every record of the files, in order."""
    for path in paths:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def place(case: dict[str, Any], models: Path | None) -> tuple[str, list[str]]:
    """The model and the arguments of a record with their folders put in; without folders they are ids."""
    if models is None:
        return str(case["model"]), [arg.removeprefix("@") for arg in case["args"]]
    args = [str(models / arg[1:]) if arg.startswith("@") else arg for arg in case["args"]]
    return str(models / case["model"]), args


def equal(ours: Value, theirs: Any) -> bool:
    """Whether an effective value is the recorded one."""
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        if not math.isfinite(ours) or not math.isfinite(theirs):
            return repr(float(ours)) == repr(float(theirs))  # nan is nan, inf is inf
        return abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs))
    return bool(ours == theirs)


def our_value(name: str, values: Mapping[str, Value]) -> Value:
    """The effective value of a recorded field."""
    size = values.get("attn_dp_size")
    if name == "enable_dp_attention" and isinstance(size, int):
        return size > 1
    return values.get(name)


def site(checked: Checked, release: str) -> tuple[str, str, str]:
    """(rule, file:line, stage) of the first refusal."""
    if checked.resolution is None:
        return "parse", "", "parse"
    for operation in checked.resolution.refusals:
        if operation.rule.stage in VERDICT_STAGES:
            source = operation.rule.source(release)
            return operation.rule.id, f"{source.file}:{source.line}" if source else "", operation.rule.stage
    return "", "", ""


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument("--release", required=True)
    parser.add_argument("--models", type=Path, default=Path(__file__).resolve().parents[3] / "shared" / "models")
    parser.add_argument("--top", type=int, default=30)
    parser.add_argument("--only", help="causes that hold this text alone")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--arguments", help="only cases that type no other flags than these (comma separated)")
    options = parser.parse_args()
    engine = Engine(load(options.release), load_models(options.release), load_catalogue())
    allowed = set(options.arguments.split(",")) if options.arguments else None
    tally: Counter[str] = Counter()
    causes: Counter[tuple[str, ...]] = Counter()
    samples: dict[tuple[str, ...], str] = {}
    started = time.perf_counter()
    for case in records(options.records):
        if allowed and not {arg.split("=")[0] for arg in case["args"] if arg.startswith("--")} <= allowed:
            continue
        tally["cases"] += 1
        if options.limit and tally["cases"] > options.limit:
            break
        for cause in judge(engine, case, options.models, options.release, tally):
            causes[cause] += 1
            samples.setdefault(cause, shown(case))
    spent = time.perf_counter() - started
    report(tally, spent)
    wanted = [one for one in causes.most_common() if not options.only or options.only in " ".join(one[0])]
    for cause, count in wanted[: options.top]:
        print(f"{count:6d}  {' | '.join(cause)}\n        {samples[cause][:300]}")


def shown(case: dict[str, Any]) -> str:
    """A case on one line."""
    return f"{case['id']} {case['model']} {case['gpu']}x{case['num_gpus']} {' '.join(case['args'])}"


def judge(
    engine: Engine, case: dict[str, Any], models: Path | None, release: str, tally: Counter[str]
) -> Iterator[tuple[str, ...]]:
    """Count one case; yield each way in which it disagrees."""
    model, args = place(case, models)
    _, gpu = parse_gpu(case["gpu"], engine.knowledge.gpus)
    try:
        checked = engine.check(model, Platform(gpu, case["num_gpus"]), args, models)
    except InputError as error:
        tally["invalid"] += 1
        yield "invalid input", error.message
        return
    refused = case["verdict"] != "ok"
    rule, ours, _ = site(checked, release)
    tally["refused"] += refused
    if checked.refused != refused:
        tally["false refused" if checked.refused else "false valid"] += 1
        if checked.refused:
            yield "FALSE REFUSED", rule, ours
        else:
            yield "FALSE VALID", case.get("where", ""), case.get("words", "")[:60]
        return
    tally["verdict"] += 1
    if refused:
        if case["stage"] not in ("parse", "argparse") and case["where_kind"] != "call":
            tally["sites"] += 1
            if ours == case.get("where", ""):
                tally["sites equal"] += 1
            else:
                yield "OTHER SITE", case.get("where", ""), rule, ours
        return
    assert checked.resolution is not None
    values = checked.resolution.values
    wrong = []
    for name, theirs in case["resolved"].items():
        own = DERIVED.get(name, name)
        if own is None or equal(our_value(own, values), theirs):
            continue
        kind = "derived" if name in DERIVED else "value"
        if kind == "value":
            wrong.append(name)
        yield f"EFFECTIVE {kind}", name, f"theirs {theirs}", f"ours {our_value(own, values)}"
    tally["accepted"] += 1
    tally["accepted equal"] += not wrong


def report(tally: Counter[str], spent: float) -> None:
    """Print the figures."""
    cases, sites, accepted = tally["cases"], max(tally["sites"], 1), max(tally["accepted"], 1)
    print(
        f"{cases} cases, {tally['refused']} refused, {cases / max(spent, 1e-9):.0f} cases/s\n"
        f"verdicts equal   {tally['verdict'] / max(cases, 1):8.3%}\n"
        f"false valid      {tally['false valid'] / max(cases, 1):8.3%}  ({tally['false valid']})\n"
        f"false refused    {tally['false refused'] / max(cases, 1):8.3%}  ({tally['false refused']})\n"
        f"cited sites      {tally['sites equal'] / sites:8.3%}  of {tally['sites']}\n"
        f"effective values {tally['accepted equal'] / accepted:8.3%}  of {tally['accepted']} accepted"
    )


if __name__ == "__main__":
    main()
