"""The JSON of `export_flags.py`, one file per release read -> `flags/*.yaml`, releases merged into revisions.

``python -m constraints.sglang.merge_flags flags-0.5.18.json flags-0.5.23.json`` rewrites every file of the folder.
What a person wrote there (`HAND_WRITTEN` keys of a flag) is kept.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..read import Mapped, read_file
from ..release import release_key

HAND_WRITTEN = ("about", "note", "renamed_to")
WIDTH = 118
_WORD = re.compile(r"(?!(?:true|false|null|yes|no|on|off|~)$)[A-Za-z_./-][\w./+-]*", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[-+.]?\d.*", re.ASCII)
_DEFAULTS: dict[str, Any] = {
    "action": "store",
    "type": "str",
    "converter": "",
    "nargs": None,
    "const": None,
    "choices": None,
    "required": False,
    "deprecated": False,
    "new_flag": None,
    "keys": None,
    "refused": None,
}


def scalar(value: Any) -> str:
    """One plain value as YAML that `read.py` reads back."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    if _WORD.fullmatch(text) and not _NUMBER.fullmatch(text) and text not in ("-", "--", ".", ".."):
        return text
    return json.dumps(text, ensure_ascii=False)


def flow(value: Any) -> str:
    """Any value in flow style, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def entry(key: str, value: Any, indent: int) -> list[str]:
    """``key: value`` as lines; a list that does not fit is wrapped."""
    pad = " " * indent
    line = f"{pad}{scalar(key)}: {flow(value)}"
    if len(line) <= WIDTH:
        return [line]
    if isinstance(value, dict):
        return [f"{pad}{scalar(key)}:", *block(value, indent + 2)]
    if not isinstance(value, list) or not value:
        return [line]
    if isinstance(value[0], dict):
        return [f"{pad}{scalar(key)}:", *(item for one in value for item in listed(one, indent + 2))]
    lines, current = [f"{pad}{scalar(key)}: ["], pad + " "
    for item in value:
        word = f" {flow(item)},"
        if len(current) + len(word) > WIDTH:
            lines.append(current)
            current = pad + " "
        current += word
    return [*lines, current, f"{pad}]"]


def block(mapping: dict[str, Any], indent: int) -> list[str]:
    """A mapping in block style."""
    return [line for key, value in mapping.items() for line in entry(key, value, indent)]


def listed(mapping: dict[str, Any], indent: int) -> list[str]:
    """A mapping as one item of a block list, on one line if it fits."""
    line = " " * indent + f"- {flow(mapping)}"
    if len(line) <= WIDTH:
        return [line]
    lines = block(mapping, indent + 2)
    return [" " * indent + "- " + lines[0].lstrip(), *lines[1:]]


def short(action: dict[str, Any]) -> dict[str, Any]:
    """An action without the keys that say nothing."""
    kept: dict[str, Any] = {"options": action["options"]}
    # What store_true and its kind store is a bool: their action says so.
    implied = {"type": "bool"} if action["action"] in ("store_true", "store_false", "boolean_optional") else {}
    for key, usual in (_DEFAULTS | implied).items():
        if action[key] != usual:
            kept[key] = action[key]
    return kept


def _hint_type(hint: str | None) -> str:
    """The type of a field that has no command line, from its annotation."""
    for word in ("bool", "int", "float", "str", "Literal"):
        if hint and word in hint and "Dict" not in hint and "Callable" not in hint:
            return "str" if word == "Literal" else word
    return "json"


def fact(flag: dict[str, Any]) -> dict[str, Any]:
    """One flag of one release as its revision holds it."""
    if flag["actions"]:
        first, *others = sorted(flag["actions"], key=lambda action: bool(action["deprecated"]))
        found = short(first)
    else:
        found, others = {"options": [], "type": _hint_type(flag["hint"])}, []
    usual = False if found.get("action") == "store_true" else None
    if flag["default"] != usual:
        found["default"] = flag["default"]
    if not flag["field"]:
        found["field"] = False
    if others:
        found["actions"] = [short(action) for action in others]
    return found


def merged(versions: Sequence[tuple[str, dict[str, Any] | None]]) -> dict[str, Any]:
    """A flag of several releases, oldest first, None where it is absent -> the flag with its revisions."""
    spans: list[dict[str, Any]] = []
    before: dict[str, Any] | None = None
    for place, (release, found) in enumerate(versions):
        if found == before and place:
            continue
        if spans and "until" not in spans[-1] and before is not None:
            spans[-1]["until"] = release
        if found is not None:
            spans.append({"since": f"<={release}" if place == 0 else release} | found)
        before = found
    if len(spans) == 1:
        only = spans[0]
        usual = only["since"].startswith("<=")
        span = {key: only[key] for key in ("since", "until") if key in only and not (usual and key == "since")}
        return span | {key: value for key, value in only.items() if key not in ("since", "until")}
    common = {key: value for key, value in spans[0].items() if all(span.get(key, ...) == value for span in spans)}
    kept = [{key: value for key, value in span.items() if key not in common} for span in reversed(spans)]
    ordered = [{key: span[key] for key in ("since", "until") if key in span} | span for span in kept]
    return common | {"revisions": ordered}


def group_text(group: str, flags: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """One file's text."""
    lines = [f"group: {group}", "flags:"]
    for name, flag in flags:
        lines += entry(name, flag, 2)
    return "\n".join(lines) + "\n"


def hand_written(folder: Path) -> dict[str, dict[str, Any]]:
    """What people wrote about each flag in the folder's present files."""
    kept: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.yaml")):
        for name, flag in read_file(path)["flags"].items():
            if isinstance(flag, Mapped):
                kept[name] = {key: flag[key] for key in HAND_WRITTEN if key in flag}
    return kept


def main() -> None:
    """Read the JSON files, write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exports", type=Path, nargs="+")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "flags")
    asked = parser.parse_args()
    exports = sorted(
        (json.loads(path.read_text(encoding="utf-8")) for path in asked.exports),
        key=lambda export: release_key(export["release"]),
    )
    kept = hand_written(asked.folder)
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for name in sorted({name for export in exports for name in export["flags"]}):
        found = [(export["release"], export["flags"].get(name)) for export in exports]
        newest = [flag for _, flag in found if flag is not None][-1]
        flag = merged([(release, None if flag is None else fact(flag)) for release, flag in found])
        groups.setdefault(newest["group"] or "parser", {})[name] = flag | kept.get(name, {})
    for path in asked.folder.glob("*.yaml"):
        path.unlink()
    asked.folder.mkdir(exist_ok=True)
    for group, flags in sorted(groups.items()):
        path = asked.folder / f"{group.replace('.', '_')}.yaml"
        path.write_text(group_text(group, sorted(flags.items())), encoding="utf-8")


if __name__ == "__main__":
    main()
