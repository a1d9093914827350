"""The model classes of releases -> families/pipeline.yaml: the architectures whose forward takes no pipeline stage.

    python constraints/models/generate/write_pipeline.py 0.5.18=TREE 0.5.23=TREE > families/pipeline.yaml

TREE holds the sglang package. The classes are read, not imported: SGLang looks for the parameter ``pp_proxy_tensors``.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

PARAMETER = "pp_proxy_tensors"


def read(tree: Path) -> tuple[dict[tuple[str, str], ast.ClassDef], list[tuple[str, str]]]:
    """Every class by (file, name), and the entry classes."""
    classes: dict[tuple[str, str], ast.ClassDef] = {}
    entries: list[tuple[str, str]] = []
    for path in sorted((tree / "sglang" / "srt" / "models").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8-sig")).body:
            if isinstance(node, ast.ClassDef):
                classes[path.stem, node.name] = node
            elif isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "EntryClass" for t in node.targets):
                items = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else [node.value]
                entries += [(path.stem, item.id) for item in items if isinstance(item, ast.Name)]
    return classes, entries


def takes(classes: dict[tuple[str, str], ast.ClassDef], key: tuple[str, str], seen: frozenset[str]) -> bool | None:
    """Whether the class's forward takes the parameter; None when no forward is found."""
    node = classes.get(key)
    if node is None:
        found = [other for other in classes if other[1] == key[1]]
        if len(found) != 1:
            return None
        key, node = found[0], classes[found[0]]
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name == "forward":
            names = [one.arg for one in (*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs)]
            return PARAMETER in names
    for base in node.bases:
        name = base.id if isinstance(base, ast.Name) else ""
        if name and name not in seen:
            answer = takes(classes, (key[0], name), seen | {name})
            if answer is not None:
                return answer
    return None


def without(tree: Path) -> set[str]:
    """The architectures of a release that cannot be cut into stages."""
    classes, entries = read(tree)
    return {key[1] for key in entries if takes(classes, key, frozenset((key[1],))) is False}


def listed(names: set[str]) -> str:
    """A YAML list, wrapped."""
    return "[" + "\n        ".join(textwrap.wrap(", ".join(sorted(names)), 108)) + "]"


def main() -> None:
    """Write the file."""
    pairs = [word.split("=", 1) for word in sys.argv[1:]]
    (_, first), *later = pairs
    known = without(Path(first))
    print("# Written by constraints/models/generate/write_pipeline.py from the releases.")
    print("sets:\n  one_stage:\n    about: The class's forward takes no pipeline stage (support_pp).")
    print(f"    members: {listed(known)}")
    for word in ("added", "removed"):
        print(f"    {word}:")
        before = known
        for release, tree in later:
            now = without(Path(tree))
            print(f'      "{release}": {listed(now - before if word == "added" else before - now)}')
            before = now


if __name__ == "__main__":
    main()
