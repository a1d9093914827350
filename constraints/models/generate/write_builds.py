"""What building shows of both releases -> constraints/models/defaults/32-, 33-*.yaml, and the `validated` of 30- and 31-*.yaml."""

# mypy: ignore-errors
# ruff: noqa
# Runs after probe_builds.py and probe_types.py of each release and write_types.py, with this repository alone; outputs are read from $OUT.
import json, os, re, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from constraints.models_load import load_models
from listed import wrapped

OUT = os.environ.get("OUT", "models-generate")
TO = Path(__file__).parents[1] / "defaults"


def served(built, known):
    """The types of architectures that SGLang has, and their parts."""
    supported = set(known.sets["supported"])
    queue = [name for name, one in built.items() if one["own"] or supported & set(one["architectures"])]
    found = set()
    while queue:
        name = queue.pop()
        if name in known.classes and name not in found:
            found.add(name)
            queue += known.classes[name].parts.values()
    return found


def required(release):
    """By class the keys that are never null and of which the class has no default that says so.

    What fails for another reason than its type may be right beside other values.
    """
    built, known = json.load(open(f"{OUT}/builds-{release}.json")), load_models(release)
    types = json.load(open(f"{OUT}/types-{release}.json"))
    res = {}
    for name in sorted(served(built, known)):
        cls = known.classes[name]._replace(required=frozenset())
        kinds = types.get(name, {}).get("fields", {})
        typed = [key for key in built.get(name, {}).get("required", ()) if "null" not in kinds.get(key, ("null",))]
        keys = [key for key in typed if cls.takes(key, None)]
        if keys:
            res[name] = keys
    return res


def validated(release, file):
    """Name the unchecked classes that compare layers and positions all the same."""
    built, known = json.load(open(f"{OUT}/builds-{release}.json")), load_models(release)
    names = [name for name in sorted(known.classes) if not known.classes[name].checked]
    names = [name for name in names if built.get(name, {}).get("validated")]
    text = re.sub(r"  validated: \[\n.*?\n  \]\n", "", (TO / file).read_text(), flags=re.S)
    lines = "  validated: [\n" + wrapped(names, "    ") + ",\n  ]\n"
    (TO / file).write_text(text.replace("  nullable:\n", lines + "  nullable:\n", 1))


def write(file, head, found):
    text = head + "required:\n"
    for name, keys in found.items():
        line = f"  {name}: [{', '.join(keys)}]"
        text += (line if len(line) <= 120 else f"  {name}: [\n{wrapped(keys, '    ')},\n  ]") + "\n"
    (TO / file).write_text(text)


BY = "# Written by constraints/models/generate"
NEW, OLD = required("0.5.23"), required("0.5.18")
write("32-required.yaml", f"{BY}: keys whose null a config class refuses, though no fact reads them.\n", NEW)
changed = {name: keys for name, keys in OLD.items() if keys != NEW.get(name)} | {
    name: [] for name in NEW if name not in OLD
}
write(
    "33-required-until-0.5.23.yaml",
    f'{BY}: the same where SGLang 0.5.18 differs.\nuntil: "0.5.23"\n',
    dict(sorted(changed.items())),
)
validated("0.5.23", "30-types.yaml")
validated("0.5.18", "31-types-until-0.5.23.yaml")
