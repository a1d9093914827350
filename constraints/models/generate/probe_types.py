"""A release -> the types that each config class compares values with (types-RELEASE.json)."""

# mypy: ignore-errors
# ruff: noqa
# Runs as probe_classes.py does; write_types.py comes after write_classes.py.
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
OUT = os.environ.get("OUT", "models-generate")
import json, dataclasses, inspect, sgl

v = sys.argv[1]
sgl.setup(v)
from transformers import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from sglang.srt.utils.hf_transformers import common

REG = common._CONFIG_REGISTRY
SAMPLES = {"null": None, "bool": True, "int": 3, "float": 2.5, "text": "x", "list": [1], "object": {"a": 1}}


def kinds(cls, name):
    """The kinds of values that the validators of a field take."""
    found = []
    for kind, sample in SAMPLES.items():
        try:
            for validate in cls.__validators__.get(name, []):
                validate(sample)
            found.append(kind)
        except Exception:
            pass
    return found


res = {}
# What AutoConfig reads comes first, SGLang's own class of the same type later and unchecked.
queue = [(t, None) for t in sorted(set(CONFIG_MAPPING.keys()) | set(REG))]
while queue:
    t, cls = queue.pop(0)
    if t in res:
        continue
    try:
        cls = cls or (CONFIG_MAPPING[t] if t in CONFIG_MAPPING else REG[t])
    except Exception:
        continue
    checks = [inspect.getsource(m) for m in cls.__class_validators__ if m.__name__ == "validate_architecture"]
    res[t] = {
        "checked": "__validators__" in cls.__dict__,
        "fields": {n: kinds(cls, n) for n in cls.__dataclass_fields__ if not n.startswith("_")},
        "heads_divide": any("hidden_size % self.num_attention_heads" in text for text in checks),
    }
    for part in (getattr(cls, "sub_configs", {}) or {}).values():
        if isinstance(part, type) and issubclass(part, PretrainedConfig):
            queue.append((getattr(part, "model_type", None) or part.__name__, part))
json.dump(res, open(f"{OUT}/types-{v}.json", "w"))
