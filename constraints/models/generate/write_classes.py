"""The probes of both releases -> constraints/models/defaults/1*.yaml and 20-*.yaml."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, under the oracle's fakes ($ORACLE, the folder of hardware.py and stubs.py); outputs go to
# $OUT (default: models-generate in the current folder). Order: probe_classes.py and probe_sets.py for each release, write_sets.py, write_classes.py.
import json, re, sys
import os

OUT = os.environ.get("OUT", "models-generate")
sys.path.insert(0, str(__import__("pathlib").Path(__file__).parents[3]))
from pathlib import Path
from class_entry import K, R, SUBS, VK, entry, left


def build(v):
    d = json.load(open(f"{OUT}/classes-{v}.json"))
    out = {}
    queue = []
    for t, r in d.items():
        if "module" not in r:
            continue
        D = r.get("defaults", {})
        text = any(
            x in SUBS[:4] for x in list(r["subs"]) + [k for k in r["empty"] if r["empty"][k] is not None or True]
        )
        head = ("num_attention_heads" in D or "num_attention_heads" in r["alias"] or "num_hidden_layers" in D) and (
            "vocab_size" in D or "vocab_size" in r["alias"]
        )
        if r.get("registry") or text or head or "error" in r:
            out[t] = entry(t, r, K)
            queue.append(t)
    while queue:
        t = queue.pop()
        for p in out[t].get("parts", {}).values():
            if p not in out and p in d:
                out[p] = entry(p, d[p], VK)
                queue.append(p)
    return out, d


def flow(x):
    if isinstance(x, dict):
        return "{" + ", ".join(f"{q(k)}: {flow(v)}" for k, v in x.items()) + "}"
    if isinstance(x, list):
        return "[" + ", ".join(flow(i) for i in x) + "]"
    if x is True:
        return "true"
    if x is False:
        return "false"
    if x is None:
        return "null"
    if isinstance(x, (int, float)):
        return repr(x) if not (isinstance(x, float) and "e" in repr(x)) else repr(x)
    return q(x)


def q(s):
    return (
        s
        if re.fullmatch(r"[A-Za-z_][\w\-]*", s) and s.lower() not in ("true", "false", "null", "yes", "no", "on", "off")
        else json.dumps(s)
    )


new, d1 = build("0.5.23")
old, d0 = build("0.5.18")
known = set(json.load(open(OUT + "/models-sets-0.5.23.json"))["known_types"])
known0 = set(json.load(open(OUT + "/models-sets-0.5.18.json"))["known_types"])
for t in known:
    new.setdefault(t, {})
for t in known0:
    old.setdefault(t, {})
HEAD = [
    "# Written by constraints/models/generate from the config classes of transformers and SGLang, as SGLang 0.5.23 uses them.",
    "# One line a model_type: what the class supplies where config.json has no such key. Keys: constraints/README.md.",
    "classes:",
]
lines = []
empties = [t for t in sorted(new) if not new[t]]
for t in sorted(new):
    if new[t]:
        lines.append(f"  {q(t)}: {flow(new[t])}")


def dump(stem, lines, head):
    (R / "defaults" / f"{stem}.yaml").write_text("\n".join(head + lines) + "\n")


for old_ in (R / "defaults").glob("1*.yaml"):
    old_.unlink()
for n, i in enumerate(range(0, len(lines), 150)):
    dump(f"1{n}-classes", lines[i : i + 150], HEAD)
dump(
    "19-classes-without-defaults",
    ["  " + ", ".join([])] * 0 + [f"  {q(t)}: {{}}" for t in empties],
    [
        "# Written by constraints/models/generate: model_types SGLang 0.5.23 can read whose classes supply nothing that a fact reads.",
        "classes:",
    ],
)
dl = []
for t in sorted(set(new) | set(old)):
    if t not in old:
        dl.append(f"  {q(t)}: null")
    elif old[t] != new.get(t):
        dl.append(f"  {q(t)}: {flow({'replace': True, **old[t]})}")
dump(
    "20-until-0.5.23",
    dl,
    [
        "# Written by constraints/models/generate: where the config classes of SGLang 0.5.18 (transformers 5.12) differ.",
        'until: "0.5.23"',
        "classes:",
    ],
)
print(len(new), len(old), len(dl))
json.dump(left, open(OUT + "/models-left.json", "w"), indent=1)
