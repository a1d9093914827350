"""Published deployments against what we recommend for the same model, GPU and purpose -> docs/ranking.md's table.

    python -m tests.conformance.practice --recipes RECIPES.yaml [--out FILE.json] [--write docs/ranking.md]

For each deployment: do its attention backends, its KV format and its runner of experts, as they end, stand among our
first five by the matching profile? Three ways: with all evidence, without what its own source says, with no evidence.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from constraints.errors import Fault
from constraints.evaluate import evaluate
from constraints.evidence import evidence_names
from constraints.knowledge import HOME
from constraints.preferences import Profile
from constraints.profiles import read_profile
from constraints.read import read_file
from constraints.values import Value
from solver import Preflight
from solver.errors import TooLarge
from solver.facts import Platform
from tests.conformance.published import checkpoint, gpu_of, words_of

RELEASES = ("0.5.23", "0.5.18")
WAYS = ("all evidence", "without its own source", "no evidence")
ASPECTS = ("attention.prefill", "attention.decode", "kv_cache_dtype", "moe_runner_backend")
ALIASES = {"nsa": "dsa", "compressed": "dsv4", "tokenspeed_mla": "cutedsl_mla"}
OWN_PRECISION = ("auto", "bf16", "bfloat16")
FIRST = 5
LIMIT = 10
# A deployment of FP4 weights under the name of the checkpoint they were made of.
FP4 = {
    "deepseek-ai/DeepSeek-V3.2": "nvidia/DeepSeek-V3.2-NVFP4",
    "Qwen/Qwen3-235B-A22B": "nvidia/Qwen3-235B-A22B-NVFP4",
}
# Published in a number format that no checkpoint of the catalogue has: what fits and what is read are others.
OTHER_WEIGHTS = ("moonshotai/Kimi-K2-Thinking",)
START, END = "<!-- practice -->", "<!-- end of practice -->"


class Deployment(NamedTuple):
    """A published deployment as it can be asked, with what it ends as."""

    id: str
    model: str
    gpu: str
    profile: str
    source: str
    release: str
    wanted: dict[str, Value]


@cache
def preflight(release: str) -> Preflight:
    return Preflight(release)


def purpose(claim: str) -> str:
    """The profile that a claim asks for."""
    text = claim.lower()
    if re.search(r"throughput|hightpt|maxtpt", text):
        return "throughput"
    return "latency" if re.search(r"low-?_?lat|latency|speculative", text) else "balanced"


def url(source: str) -> str:
    """Where a source of the record stands."""
    found = re.match(r"([\w.-]+/[\w.-]+):(\S+) @(\w+)", source)
    return f"https://github.com/{found[1]}/blob/{found[3]}/{found[2]}" if found else source


def deployments(entries: Sequence[Mapping[str, Any]], causes: Counter[str]) -> Iterator[Deployment]:
    """What can be asked; why the others cannot goes to ``causes``."""
    for entry in entries:
        model = checkpoint(entry["model"], preflight(RELEASES[0]).engine.catalogue)
        gpu = gpu_of(entry["gpu"] or "", entry["num_gpus"]) if entry["gpu"] else None
        fp4 = "fp4" in str([entry.get("precision"), entry.get("checkpoint"), *entry["args"]]).lower()
        if model is not None and fp4 and "FP4" not in model and "gpt-oss" not in model:
            model = FP4.get(model)
        if model is None or str(entry["model"]).startswith(OTHER_WEIGHTS):
            causes["no checkpoint of the catalogue is like it"] += 1
        elif gpu is None:
            causes["it names no GPU of the catalogue"] += 1
        else:
            found = _resolved(entry, model, gpu)
            if found is None:
                causes["its command does not hold on that checkpoint and GPU"] += 1
            else:
                yield found


def _resolved(entry: Mapping[str, Any], model: str, gpu: str) -> Deployment | None:
    for release in RELEASES:
        asker = preflight(release)
        platform = asker.machine(gpu)
        checked = asker.engine.check(model, platform, words_of(entry["args"]))
        if checked.resolution is None or checked.resolution.refusals:
            continue
        values = checked.resolution.values
        aspects = [one for one in ASPECTS if not _elsewhere(entry.get("role"), one)]
        if not values.get("model.is_moe"):
            aspects.remove("moe_runner_backend")
        wanted = {one: _plain(one, _value(asker, one, values)) for one in aspects}
        source = url(str(entry["source"]))
        return Deployment(entry["id"], model, gpu, purpose(str(entry["claim"])), source, release, wanted)
    return None


def _elsewhere(role: object, aspect: str) -> bool:
    """Whether the other server of a pair does this."""
    return (role == "prefill" and aspect == "attention.decode") or (role == "decode" and aspect == "attention.prefill")


def _value(asker: Preflight, name: str, values: Mapping[str, Value]) -> Value:
    node = asker.knowledge.names.get(name)
    return values.get(name) if node is None else evaluate(node, values)


def _plain(aspect: str, value: Value) -> Value:
    """A value without its other spellings."""
    if aspect == "kv_cache_dtype" and value in OWN_PRECISION:
        return "own precision"
    return ALIASES.get(value, value) if isinstance(value, str) else value


def seen(one: Deployment, way: str) -> frozenset[str]:
    """The published entries that hold there and are seen, by id."""
    asker = preflight(one.release)
    facts = asker.engine.facts(one.model, asker.machine(one.gpu))
    holding = [entry for entry in asker.knowledge.evidence if entry.kind == "published"]
    holding = [entry for entry in holding if entry.when is None or evaluate(entry.when, facts)]
    if way == WAYS[2]:
        return frozenset()
    return frozenset(entry.id for entry in holding if way == WAYS[0] or one.source not in entry.sources)


@cache
def profile_of(release: str, name: str, entries: frozenset[str]) -> Profile:
    """A profile that sees these published entries alone."""
    knowledge = preflight(release).knowledge
    kept = [
        one if one.kind != "published" or one.id in entries else one._replace(uses=dict.fromkeys(one.uses, ()))
        for one in knowledge.evidence
    ]
    file = f"profiles/{name}.yaml"
    faults: list[Fault] = []
    named = {**knowledge.names, **evidence_names(kept, knowledge.names)}
    profile = read_profile(read_file(HOME / file, file), file, named, faults)
    assert profile is not None
    assert not faults
    return profile


@cache
def first_ones(
    release: str, model: str, gpu: str, profile: str, entries: frozenset[str]
) -> tuple[dict[str, Value], ...]:
    """The aspects of our first configurations."""
    asker = preflight(release)
    platform: Platform = asker.machine(gpu)
    try:
        seeing = profile_of(release, profile, entries)
        answer = asker.recommend(model, platform, profile=seeing, top=LIMIT)
    except TooLarge:
        return ()
    facts = asker.engine.facts(model, platform)
    return tuple(
        {one: _plain(one, _value(asker, one, {**facts, **solution.effective})) for one in ASPECTS}
        for solution in answer.solutions
    )


def met(wanted: Mapping[str, Value], ours: Sequence[Mapping[str, Value]]) -> tuple[bool, list[str]]:
    """Whether one of ours has all that is wanted, and which aspects none of ours has."""
    together = any(all(one[aspect] == value for aspect, value in wanted.items()) for one in ours)
    return together, [aspect for aspect, value in wanted.items() if all(one[aspect] != value for one in ours)]


def cause(one: Deployment, ours: Sequence[Mapping[str, Value]], missing: Sequence[str]) -> str:
    """Why what is wanted is not among the first five."""
    if not ours:
        return "we recommend nothing there"
    together, never = met(one.wanted, ours)
    what = ", ".join(missing) or "the combination"
    place = f"among our first {LIMIT}" if together or not never else f"not among our first {LIMIT}"
    return f"{what}: {place}"


def measure(entries: Sequence[Mapping[str, Any]], every: int) -> dict[str, Any]:
    """Every deployment by every way."""
    left: Counter[str] = Counter()
    rows = []
    for one in deployments(entries, left):
        row: dict[str, Any] = {"id": one.id, "model": one.model, "gpu": one.gpu, "profile": one.profile}
        row["wanted"] = {name: str(value) for name, value in one.wanted.items()}
        row["release"] = one.release
        for way in WAYS:
            ours = first_ones(one.release, one.model, one.gpu, one.profile, seen(one, way))
            together, missing = met(one.wanted, ours[:FIRST])
            row[way] = {"together": together, "missing": missing}
            if not together and way == WAYS[0]:
                row["cause"] = cause(one, ours, missing)
        rows.append(row)
        print(len(rows), one.id, row[WAYS[0]], row[WAYS[1]], row.get("cause", ""), flush=True)
    return {"rows": rows, "left": dict(left), "every": every}


def table(found: Mapping[str, Any]) -> str:
    """The figures as a page's section."""
    rows = found["rows"]
    whole = "" if found["every"] == 1 else f" of every {found['every']}. of the record"
    lines = [f"{len(rows)} deployments{whole} can be asked. Of the others:", ""]
    lines += [f"- {number}: {why}" for why, number in sorted(found["left"].items(), key=lambda item: -item[1])]
    lines += ["", "| | each aspect among the first five | all of them in one of the five |", "|---|---|---|"]
    for way in WAYS:
        each = sum(not row[way]["missing"] for row in rows)
        together = sum(row[way]["together"] for row in rows)
        lines.append(f"| {way} | {_share(each, len(rows))} | {_share(together, len(rows))} |")
    lines += ["", "| profile | deployments | each aspect | in one |", "|---|---|---|---|"]
    for name in sorted({row["profile"] for row in rows}):
        part = [row[WAYS[0]] for row in rows if row["profile"] == name]
        each, together = sum(not one["missing"] for one in part), sum(one["together"] for one in part)
        lines.append(f"| {name} | {len(part)} | {_share(each, len(part))} | {_share(together, len(part))} |")
    causes = Counter(row["cause"] for row in rows if "cause" in row)
    lines += ["", f"What is missed ({sum(causes.values())}, with all evidence):", ""]
    for why, number in causes.most_common():
        who = [row for row in rows if row.get("cause") == why]
        where = sorted({f"{row['model']} on {row['gpu']}" for row in who})
        lines.append(f"- {number}: {why} ({'; '.join(where[:6])}{'; ...' if len(where) > 6 else ''})")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "0"


def main() -> None:
    """Measure, keep the rows, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--recipes", required=True, type=Path)
    parser.add_argument("--every", type=int, default=1, help="take each n-th deployment of the record")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    entries = yaml.safe_load(options.recipes.read_text(encoding="utf-8"))[:: options.every]
    found = measure(entries, options.every)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = table(found)
    print(text)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        before, after = page.split(START)[0], page.split(END)[1]
        options.write.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
