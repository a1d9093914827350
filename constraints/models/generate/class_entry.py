"""What a probe saw of one config class -> its entry of constraints/models/defaults, for `write_classes.py`."""

# mypy: ignore-errors
# ruff: noqa
import re
from pathlib import Path

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
