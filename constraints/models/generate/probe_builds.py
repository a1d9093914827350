"""A release -> which keys may not be null, and whether layers and positions are compared, by building each config class (builds-RELEASE.json)."""

# mypy: ignore-errors
# ruff: noqa
# Runs as probe_classes.py does, for minutes; write_builds.py comes after write_types.py.
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
OUT = os.environ.get("OUT", "models-generate")
import inspect, json, sgl

v = sys.argv[1]
sgl.setup(v)
from transformers import PretrainedConfig
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from sglang.srt.utils.hf_transformers import common

REG = common._CONFIG_REGISTRY
COMMON = set(getattr(PretrainedConfig, "__dataclass_fields__", {}))
ARCHITECTURES = {}
for name, mapping in vars(modeling_auto).items():
    if name.startswith("MODEL_") and name.endswith("_MAPPING_NAMES"):
        for kind, found in mapping.items():
            ARCHITECTURES.setdefault(kind, set()).update([found] if isinstance(found, str) else found)


def fails(classes, kind, given):
    """Whether one of the classes that read such a file refuses it."""
    try:
        for cls in classes:
            cls.from_dict({"model_type": kind, **json.loads(json.dumps(given))})
    except Exception:
        return True
    return False


def keys(cls):
    """What the class declares, and what its constructors name."""
    found = set(getattr(cls, "__dataclass_fields__", {}))
    for one in cls.__mro__:
        if "__init__" in one.__dict__ and one.__module__ != "huggingface_hub.dataclasses":
            try:
                found |= set(inspect.signature(one.__init__).parameters)
            except ValueError:
                pass
    return {name for name in found if not name.startswith("_")} - {"self", "kwargs", "args"} - COMMON


res = {}
queue = [(kind, None) for kind in sorted(set(CONFIG_MAPPING.keys()) | set(REG))]
while queue:
    kind, cls = queue.pop(0)
    if kind in res:
        continue
    try:
        # What AutoConfig reads comes first, then SGLang's own class of the same type.
        both = [cls] if cls else [CONFIG_MAPPING[kind] if kind in CONFIG_MAPPING else None, REG.get(kind)]
    except Exception:
        continue
    classes = [one for one in dict.fromkeys(both) if one]
    one = res[kind] = {"own": kind in REG, "architectures": sorted(ARCHITECTURES.get(kind, ()))}
    for found in classes:
        for part in (getattr(found, "sub_configs", {}) or {}).values():
            if isinstance(part, type) and issubclass(part, PretrainedConfig):
                queue.append((getattr(part, "model_type", None) or part.__name__, part))
    one["builds"] = not fails(classes, kind, {})
    if not one["builds"]:
        continue
    every = set().union(*map(keys, classes)) | {"tie_word_embeddings"}
    one["required"] = sorted(key for key in every if fails(classes, kind, {key: None}))
    layers = {"num_hidden_layers": 4, "layer_types": ["full_attention"] * 4}
    fewer = {**layers, "layer_types": ["full_attention"] * 3}
    one["validated"] = fails(classes, kind, fewer) and not fails(classes, kind, layers)
json.dump(res, open(f"{OUT}/builds-{v}.json", "w"))
