"""The probes of both releases -> constraints/models/defaults/1*.yaml and 20-*.yaml."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, under the oracle's fakes ($ORACLE, the folder of hardware.py and stubs.py); outputs go to
# $OUT (default: models-generate in the current folder). Order: probe_classes.py and probe_sets.py for each release, write_sets.py, write_classes.py.
import json, re, sys, textwrap
import os

OUT = os.environ.get("OUT", "models-generate")
sys.path.insert(0, str(__import__("pathlib").Path(__file__).parents[3]))
from pathlib import Path
from constraints.expression import parse
from constraints.tree import names

R = Path(__file__).parents[3] / "constraints/models"
texts = "\n".join(
    p.read_text() for p in [*R.glob("facts/*.yaml"), *R.glob("families/drafts.yaml"), *R.glob("defaults/90*.yaml")]
)
K = set(re.findall(r"\b(?:config|text)\.([a-zA-Z_0-9]+)", texts))
K |= {"hidden_size", "num_attention_heads", "num_hidden_layers", "sliding_window", "use_sliding_window", "layer_types"}
hand = Path(R / "defaults/90-by-hand.yaml")
if hand.exists():
    for m in re.finditer(r'(?:follow|force): *\{(.*)\}|^ +\w+: "(.*)"$', hand.read_text(), re.M):
        K |= set(re.findall(r"[a-z_]+\w*", (m.group(1) or m.group(2))))
VK = {
    "num_hidden_layers",
    "hidden_size",
    "depth",
    "num_heads",
    "num_attention_heads",
    "heads",
    "layers",
    "intermediate_size",
    "patch_size",
}
SUBS = ("thinker_config", "text_config", "llm_config", "language_config", "vision_config", "audio_config")
DROP = {
    "architectures",
    "rope_parameters",
    "rope_scaling",
    "quantization_config",
    "dtype",
    "torch_dtype",
    "model_type",
    "version",
    "auto_map",
    "dual_chunk_attention_config",
    "linear_layer_ids",
    "use_cache",
}
left = {}


def entry(t, r, keys):
    D = r.get("defaults", {})
    P = r.get("perturbed", {})
    N = r.get("nulls", {})
    F = r.get("forced", {})
    A = r["alias"]
    e = {}
    alias = {}
    for a, b in A.items():
        if a in keys or b in keys:
            alias[a] = b
            alias[b] = a
    keys = set(keys) | set(alias)
    setv = {}
    follow = {}
    probed = {"num_hidden_layers", "hidden_size", "num_attention_heads"}
    probed |= {A[k] for k in probed if k in A} | {a for a, b in A.items() if b in probed}
    if D.get("dtype") not in (None, "float32"):
        setv["dtype"] = D["dtype"]
    rp = D.get("rope_parameters")
    if (
        isinstance(rp, dict)
        and rp.get("rope_type") not in (None, "default")
        and all(not isinstance(x, (dict, list)) for x in rp.values())
    ):
        setv["rope_parameters"] = {
            k: rp[k]
            for k in (
                "rope_type",
                "factor",
                "low_freq_factor",
                "high_freq_factor",
                "original_max_position_embeddings",
                "mscale_all_dim",
                "rope_theta",
            )
            if rp.get(k) is not None
        }
    for k in sorted(keys):
        if k in SUBS or k in DROP or k not in D:
            continue
        v = D[k]
        if isinstance(v, str) and v.startswith("<"):
            continue
        if k in P and k not in probed:
            got = P[k][1]
            if got == 26 and "head" in k:
                follow[k] = "num_attention_heads"
                continue
            if got == 72 and "head" in k:
                follow[k] = "hidden_size // num_attention_heads"
                continue
            if isinstance(v, list) and k == "layer_types":
                n0, n1 = D[k], P[k][1]
                fit = next(
                    (
                        i
                        for i in range(1, 13)
                        if all(x == n0[j % i] for j, x in enumerate(n0))
                        and all(x == n0[j % i] for j, x in enumerate(n1))
                    ),
                    None,
                )
                if not fit and n0[-1] == n1[-1] == "full_attention":
                    last = next(
                        (
                            i
                            for i in range(1, 13)
                            if all(x == n0[j % i] for j, x in enumerate(n0[:-1]))
                            and all(x == n0[j % i] for j, x in enumerate(n1[:-1]))
                        ),
                        None,
                    )
                    if last:
                        follow[k] = (
                            "chain(first(cycle(("
                            + ", ".join(map(repr, n0[:last]))
                            + ",), num_hidden_layers), num_hidden_layers - 1), ('full_attention',))"
                        )
                if fit:
                    follow[k] = "cycle((" + ", ".join(map(repr, n0[:fit])) + ",), num_hidden_layers)"
                    continue
            left.setdefault(t, {})[k] = str(P[k])[:150]
            if isinstance(v, list):
                continue
        if v is None:
            continue
        if isinstance(v, dict):
            continue
        if isinstance(v, list) and len(v) > 10:
            left.setdefault(t, {})[k] = "LONG " + str(v)[:100]
            continue
        setv[k] = v
        n = N.get(k) if k not in probed else None
        if n == 26 and "head" in k:
            follow[k] = "num_attention_heads"
        elif n == 72 and "head" in k:
            follow[k] = "hidden_size // num_attention_heads"
    force = {}
    for k, x in F.items():
        if k == "sliding_window":
            force[k] = "sliding_window if use_sliding_window else %s" % ("unset" if x[1] is None else x[1])
            continue
        if k == "head_dim" and x[1] == D.get("qk_rope_head_dim"):
            force[k] = "qk_rope_head_dim"
            setv.pop(k, None)
            continue
        if k in keys and k not in ("num_hidden_layers",):
            left.setdefault(t, {})["FORCED " + k] = str(x)
    parts = {}
    own = []
    empty = []
    for a in SUBS:
        d = r["dispatch"].get(a, {})
        em = r["empty"].get(a, "absent")
        b = d.get("bare", "")
        if em is None:
            empty.append(a)
        real = [x for x in (b,) if x and not x.startswith(("<", "error"))] or (
            [em] if em not in (None, "absent") and not str(em).startswith("<") else []
        )
        if not real and r["subs"].get(a) and em != "absent":
            real = [r["subs"][a]] if not r["subs"][a][0].isupper() else []
        if real and (a in r["subs"] or em != "absent"):
            parts[a] = real[0]
            if d.get("llama") == "llama" and real[0] != "llama" or (d.get("qwen2") == "qwen2" and real[0] != "qwen2"):
                own.append(a)
            if em == "absent":
                empty.append(a)
    for a, diff in r.get("partdefaults", {}).items():
        if a in parts and a not in empty:
            got = {k: v for k, v in diff.items() if k in (K if a in SUBS[:4] else VK)}
            if got:
                setv[a] = got
    if setv:
        e["set"] = setv
    if alias:
        e["alias"] = alias
    if follow:
        e["follow"] = follow
    if "sliding_window" in force and "layer_types" in follow:
        follow["layer_types"] = "unset if use_sliding_window else " + follow["layer_types"]
    if force:
        e["force"] = force
    if parts:
        e["parts"] = parts
    if own:
        e["own"] = own
    if empty:
        e["empty"] = empty
    if isinstance(r.get("flat"), list) and r["flat"][1]:
        e["flat"] = True
    if r.get("registry"):
        e["inherits"] = False
    return e


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
