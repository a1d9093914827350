"""A release -> the kinds that its config classes declare for the keys of a config.json (kinds-RELEASE.json)."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, as probe_classes.py; then `write_kinds.py kinds-*.json` writes kinds/keys.yaml.
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
OUT = os.environ.get("OUT", "models-generate")
os.makedirs(OUT, exist_ok=True)
import dataclasses, json, re, sgl

release = sys.argv[1]
sgl.setup(release)
from transformers import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from sglang.srt.utils.hf_transformers import common

BASE = {field.name for field in dataclasses.fields(PretrainedConfig)}
WORDS = {"int": "whole", "float": "number", "bool": "truth", "str": "text", "None": "null", "NoneType": "null"}


def parts(text):
    """The members of a union, in no bracket."""
    found, depth, word = [], 0, ""
    for sign in text:
        depth += (sign in "[(") - (sign in "])")
        if depth == 0 and sign in "|,":
            found.append(word.strip())
            word = ""
        else:
            word += sign
    return [*found, word.strip()]


def kinds(declared):
    """What an annotation allows, in our words; empty where it allows anything."""
    text = re.sub(r"<class '([^']+)'>", r"\1", str(declared))
    text = re.sub(r"^typing\.Optional\[(.*)\]$", r"\1 | None", text)
    text = re.sub(r"^typing\.Union\[(.*)\]$", r"\1", text)
    found = set()
    for part in parts(text):
        if part in WORDS:
            found.add(WORDS[part])
        elif re.match(r"(list|tuple)\[int", part):
            found.add("wholes")
        elif re.match(r"(list|tuple)\[str", part):
            found.add("texts")
        elif part.startswith(("list", "tuple")):
            found.add("list")
        elif part.startswith("dict") or part.endswith(("Config", "RopeParameters")):
            found.add("object")
        elif "dtype" in part or re.match(r"typing\.Literal\['", part):
            found.add("text")
        else:
            return []
    return sorted(found)


result = {}
for name in [*CONFIG_MAPPING.keys(), *common._CONFIG_REGISTRY.keys()]:
    cls = common._CONFIG_REGISTRY.get(name) or CONFIG_MAPPING[name]
    declared = {field.name: kinds(field.type) for field in dataclasses.fields(cls)}
    result[name] = {"keys": declared, "own": sorted(set(declared) - BASE)}
with open(f"{OUT}/kinds-{release}.json", "w") as file:
    json.dump(result, file, sort_keys=True)
