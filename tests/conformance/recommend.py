"""Random questions -> our first ten -> what SGLang says of these commands: each is accepted and ends as promised.

    python -m tests.conformance.recommend --release 0.5.23 --seed 1 --count 200 --out CASES.jsonl
    (ask the recorder of real verdicts about CASES.jsonl)
    python -m tests.conformance.recommend --release 0.5.23 --cases CASES.jsonl --results RESULTS.jsonl

Drawing also holds each command against our own checks of what a resolution does not see (world size, heads, memory).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from solver import Preflight
from solver.errors import TooLarge

GPUS = ("A100", "L40S", "RTX4090", "H100", "H200", "B200", "B300", "GB200", "RTX5090", "RTXPRO6000", "MI300X", "MI355X")
COUNTS = (1, 2, 4, 8)
TOP = 10
# Names of recorded values that are ours under another name, and what a recorder derives.
OURS = {
    "cuda_graph_decode_backend": "cuda_graph.decode.backend",
    "cuda_graph_prefill_backend": "cuda_graph.prefill.backend",
    "kv_cache_torch_dtype": "kv_cache.torch_dtype",
}
DERIVED = frozenset(
    ("attention_backend_class", "model_quantization", "model_dtype", "use_mla_backend", "uses_mamba_radix_cache")
)


def questions(preflight: Preflight, seed: int) -> Iterator[tuple[str, str, str]]:
    """Checkpoints, machines and profiles without end."""
    draw = random.Random(seed)
    models = [one.id for one in preflight.engine.catalogue.checkpoints if one.draft_of is None]
    profiles = sorted(preflight.knowledge.profiles)
    while True:
        yield draw.choice(models), f"{draw.choice(COUNTS)}x{draw.choice(GPUS)}", draw.choice(profiles)


def cases(preflight: Preflight, seed: int, count: int) -> Iterator[dict[str, Any]]:
    """The commands we recommend, as cases for the recorder. A command that breaks a rule of ours stops the run."""
    left = count
    for number, (model, gpu, profile) in enumerate(questions(preflight, seed)):
        if not left:
            return
        left -= 1
        try:
            answer = preflight.recommend(model, gpu, profile=profile, top=TOP)
        except TooLarge:
            print(f"too large: {model} on {gpu}", flush=True)
            continue
        print(number, model, gpu, profile, answer.count, flush=True)
        platform = preflight.machine(gpu)
        folder = preflight.engine.catalogue.names[model.lower()].file.removesuffix(".json")
        for one in answer.solutions:
            report = preflight.check(model, platform, one.args)
            broken = [found.rule.id for found in report.findings if found.severity == "error"]
            assert report.holds, (model, gpu, one.args, broken)
            assert one.score == sum(one.terms.values())
            yield {
                "id": f"{number}-{one.rank}",
                "model": folder,
                "gpu": platform.gpu.name,
                "num_gpus": platform.num_gpus,
                "args": list(one.args),
                "asked": [model, gpu, profile],
                "effective": {name: list(v) if isinstance(v, tuple) else v for name, v in one.effective.items()},
            }


def differences(case: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    """What SGLang does otherwise than promised."""
    if answer["verdict"] != "ok":
        return [f"refused: {answer.get('message')}"]
    found, promised = [], case["effective"]
    for name, value in answer["resolved"].items():
        if name in DERIVED:
            continue
        ours = promised.get(OURS.get(name, name))
        if name == "enable_dp_attention" and promised.get("attn_dp_size") is not None:
            ours = promised["attn_dp_size"] > 1
        if ours != value and not (isinstance(value, float) and ours is not None and abs(ours - value) < 1e-9):
            found.append(f"{name}: promised {ours}, is {value}")
    return found


def main() -> None:
    """Draw, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    if options.out:
        with options.out.open("w", encoding="utf-8") as out:
            for case in cases(Preflight(options.release), options.seed, options.count):
                out.write(json.dumps(case) + "\n")
                out.flush()
        return
    asked = {one["id"]: one for one in map(json.loads, options.cases.read_text(encoding="utf-8").splitlines())}
    answers = list(map(json.loads, options.results.read_text(encoding="utf-8").splitlines()))
    wrong = 0
    for answer in answers:
        case = asked[str(answer["id"])]
        if found := differences(case, answer):
            wrong += 1
            print(case["id"], case["asked"], case["args"], found)
    print(f"{options.release}: {len(answers)} of {len(asked)} commands asked, {len(answers) - wrong} as promised")


if __name__ == "__main__":
    main()
