"""A release -> what each config class supplies, derives, replaces (classes-RELEASE.json)."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, under the oracle's fakes ($ORACLE, the folder of hardware.py and stubs.py); outputs go to
# $OUT (default: models-generate in the current folder). Order: probe_classes.py and probe_sets.py for each release, write_sets.py, write_classes.py.
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
OUT = os.environ.get("OUT", "models-generate")
os.makedirs(OUT, exist_ok=True)
import json, copy, sgl

v = sys.argv[1]
sgl.setup(v)
import torch
from transformers import AutoConfig, PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from sglang.srt.utils.hf_transformers import common

REG = common._CONFIG_REGISTRY
SKIP = {
    "id2label",
    "label2id",
    "_name_or_path",
    "transformers_version",
    "dtype",
    "torch_dtype",
    "chunk_size_feed_forward",
    "output_hidden_states",
    "output_attentions",
    "return_dict",
    "problem_type",
    "is_encoder_decoder",
    "architectures",
    "auto_map",
    "task_specific_params",
    "pruned_heads",
    "finetuning_task",
    "tokenizer_class",
    "prefix",
    "_attn_implementation_internal",
    "_experts_implementation_internal",
    "transformers_weights",
}


def plain(x, depth=0):
    if isinstance(x, PretrainedConfig):
        return {"<config>": type(x).__name__, "model_type": x.model_type}
    if isinstance(x, torch.dtype):
        return str(x).replace("torch.", "")
    if isinstance(x, (str, int, float, bool, type(None))):
        return x
    if isinstance(x, (list, tuple, set)):
        return [plain(i) for i in x]
    if isinstance(x, dict):
        return {str(k): plain(i) for k, i in x.items()}
    return "<%s>" % type(x).__name__


def attrs(c):
    out = {}
    for k in list(vars(c)):
        if k.startswith("_") or k in SKIP:
            continue
        try:
            out[k] = plain(getattr(c, k))
        except Exception as e:
            out[k] = "<error %s>" % type(e).__name__
    for k in dir(type(c)):
        if k.startswith("_") or k in SKIP or k in out:
            continue
        d = getattr(type(c), k, None)
        if k == "dtype":
            continue
        if isinstance(d, property) or isinstance(d, (int, str, float, bool, tuple, list, dict, type(None))):
            try:
                out[k] = plain(getattr(c, k))
            except Exception as e:
                out[k] = "<error %s>" % type(e).__name__
    return out


types = sorted(set(CONFIG_MAPPING.keys()) | set(REG))
res = {}


def top(t):
    return REG[t] if t in REG else CONFIG_MAPPING[t]


BY = {}
for t in types:
    try:
        BY.setdefault(top(t), t)
    except Exception:
        pass
queue = [(t, None) for t in types]


def name_of(cls):
    if cls in BY:
        return BY[cls]
    n = getattr(cls, "model_type", None) or cls.__name__
    if n in types or n in BY.values():
        n = n + "@" + cls.__name__
    BY[cls] = n
    queue.append((n, cls))
    return n


while queue:
    t, cls = queue.pop(0)
    try:
        cls = cls or top(t)
    except Exception as e:
        res[t] = {"error": repr(e)[:200]}
        continue
    r = {
        "class": cls.__name__,
        "module": cls.__module__,
        "registry": t in REG,
        "own_type": getattr(cls, "model_type", None),
    }
    base = None
    try:
        base = cls()
        r["defaults"] = attrs(base)
    except Exception as e:
        r["error"] = repr(e)[:200]
    if base is not None and getattr(base, "dtype", None) is not None and "defaults" in r:
        r["defaults"]["dtype"] = plain(base.dtype)
    r["alias"] = dict(getattr(cls, "attribute_map", {}) or {})
    subs = {
        k: (getattr(s, "model_type", None) or getattr(s, "__name__", str(s)))
        for k, s in (getattr(cls, "sub_configs", {}) or {}).items()
    }
    r["subs"] = subs
    r["empty"] = {}
    r["partdefaults"] = {}
    try:
        for a in subs:
            x = getattr(base, a, None)
            if isinstance(x, PretrainedConfig):
                try:
                    own = attrs(type(x)())
                    mine = attrs(x)
                    diff = {
                        k: v
                        for k, v in mine.items()
                        if own.get(k) != v and isinstance(v, (int, float, str, bool)) and not str(v).startswith("<")
                    }
                    if diff:
                        r["partdefaults"][a] = diff
                except Exception as e:
                    pass
    except Exception:
        pass
    try:
        for a in ("text_config", "llm_config", "language_config", "thinker_config", "vision_config", "audio_config"):
            if base is not None and hasattr(base, a):
                x = getattr(base, a)
                r["empty"][a] = (
                    None
                    if x is None
                    else (name_of(type(x)) if isinstance(x, PretrainedConfig) else "<%s>" % type(x).__name__)
                )
    except NameError:
        pass
    # dispatch
    d = {}
    for a in ("text_config", "llm_config", "language_config", "thinker_config", "vision_config", "audio_config"):
        got = {}
        for name, sub in (
            ("bare", {"hidden_size": 64}),
            ("llama", {"model_type": "llama", "hidden_size": 64}),
            ("qwen2", {"model_type": "qwen2", "hidden_size": 64}),
        ):
            try:
                c = cls(**{a: copy.deepcopy(sub)})
                x = getattr(c, a, None)
                got[name] = (
                    name_of(type(x))
                    if isinstance(x, PretrainedConfig) and type(x) is not PretrainedConfig
                    else "<%s>" % type(x).__name__
                )
            except Exception as e:
                got[name] = "error " + type(e).__name__
        d[a] = got
    r["dispatch"] = d
    # flat: top-level text values flow into text_config?
    try:
        c = cls(num_hidden_layers=7, hidden_size=96, num_attention_heads=6)
        for a in ("thinker_config", "llm_config", "language_config", "text_config"):
            x = getattr(c, a, None)
            if isinstance(x, PretrainedConfig):
                r["flat"] = (a, getattr(x, "num_hidden_layers", None) == 7)
    except Exception as e:
        r["flat"] = "error " + type(e).__name__
    # perturb
    try:
        D = r.get("defaults", {})
        p = {}
        if "num_attention_heads" in D or "num_attention_heads" in r["alias"]:
            p["num_attention_heads"] = 26
        if "hidden_size" in D or "hidden_size" in r["alias"]:
            p["hidden_size"] = 1872
        if "num_hidden_layers" in D or "num_hidden_layers" in r["alias"]:
            p["num_hidden_layers"] = 14
        q = cls(**p)
        A = attrs(q)
        r["perturbed"] = {k: [D.get(k, "<none>"), x] for k, x in A.items() if x != D.get(k, "<none>") and k not in p}
        # nulls
        nulls = {}
        for k, dv in D.items():
            if (
                isinstance(dv, (int, float))
                and not isinstance(dv, bool)
                and ("head" in k or "window" in k or k in ("num_key_value_heads",))
            ):
                try:
                    z = getattr(cls(**{**p, k: None}), k)
                    if z is not None:
                        nulls[k] = plain(z)
                except Exception as e:
                    nulls[k] = "error " + type(e).__name__
        r["nulls"] = nulls
        forced = {}
        for k, dv in D.items():
            if k in p or k in r["subs"]:
                continue
            if dv is None or isinstance(dv, (int, float)):
                val = (not dv) if isinstance(dv, bool) else 7
                try:
                    z = plain(getattr(cls(**{k: val}), k))
                except Exception as e:
                    continue
                if z != val:
                    forced[k] = [val, z]
        r["forced"] = forced
    except Exception as e:
        r["perror"] = repr(e)[:200]
    res[t] = r
json.dump(res, open(f"{OUT}/classes-{v}.json", "w"))
print(v, len(res))
