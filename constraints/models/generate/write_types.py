"""The types of both releases -> constraints/models/defaults/3*.yaml; prints the members of `type_heads_divide_hidden_size`."""

# mypy: ignore-errors
# ruff: noqa
# Runs after probe_types.py of each release, with this repository alone; outputs are read from $OUT.
import json, os, sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from constraints.models_load import load_models
from listed import wrapped

OUT = os.environ.get("OUT", "models-generate")
TO = Path(__file__).parents[1] / "defaults"
ANY = {"null", "bool", "int", "float", "text", "list", "object"}
KINDS = {int: "int", float: "float", bool: "bool", str: "text"}


def text(release, head):
    probed, known = json.load(open(f"{OUT}/types-{release}.json")), load_models(release)
    unchecked, nullable, untyped = [], defaultdict(list), defaultdict(list)
    for name, cls in sorted(known.classes.items()):
        # What SGLang turns round later is compared as its own class reads it.
        one = probed.get(cls.kind if name.endswith("-turned") else name)
        if one is None or not one["checked"]:
            unchecked.append(name)
            continue
        for key, value in cls.values.items():
            kind = KINDS.get(type(value))
            takes = set(one["fields"].get(key) or one["fields"].get(cls.aliases.get(key, "")) or ANY)
            if kind is not None and takes != {kind}:
                (nullable if takes == {kind, "null"} else untyped)[key].append(name)
    out = head + "types:\n  unchecked: [\n" + wrapped(unchecked, "    ") + ",\n  ]\n"
    for name, found in (("nullable", nullable), ("untyped", untyped)):
        out += f"  {name}:\n"
        for key, classes in sorted(found.items()):
            line = f"    {key}: [{', '.join(classes)}]"
            out += (line if len(line) <= 120 else f"    {key}: [\n{wrapped(classes, '      ')},\n    ]") + "\n"
    print(release, [name for name, one in probed.items() if one["heads_divide"]])
    return out


BY = "# Written by constraints/models/generate"
NEW = f"{BY}: config classes that compare no types, and the\n# keys of others that take more than the type of their default.\n"
OLD = f'{BY}: the same for SGLang 0.5.18 (transformers 5.12).\nuntil: "0.5.23"\n'
(TO / "30-types.yaml").write_text(text("0.5.23", NEW))
(TO / "31-types-until-0.5.23.yaml").write_text(text("0.5.18", OLD))
