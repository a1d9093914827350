"""An unpacked SGLang and the rules -> `messages/<release>.yaml`: a few distinctive words of what each refusal prints.

    python -m constraints.sglang.collect_words --tree TREE --release 0.5.23 [--records RECORDS.jsonl.gz...]

Records {where, words} help where a line raises by calling something: the words all its records share are taken.

Words are chosen so that no other refusal of the tree prints all of them, early ones first, for a message may be cut;
numbers and what is filled in are left out.
Sites that no rule explains, in the files that refuse before weights are loaded, are kept too: known, not explained.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from constraints.load import load
from constraints.messages import tokens
from constraints.messages_load import PLACE
from constraints.provenance import REFUSING, package_of

FEWEST, MOST = 4, 6
EARLY = 56
_FILLED = "\0"
Site = tuple[str, int, int]


def texts(package: Path) -> dict[Site, tuple[str, ...]]:
    """The words that each ``raise`` and ``assert`` of the tree prints, by file and lines."""
    found: dict[Site, tuple[str, ...]] = {}
    for file in sorted((package / "srt").rglob("*.py")):
        name = file.relative_to(package).as_posix()
        tree = ast.parse(file.read_text(encoding="utf-8-sig"))
        for scope in ast.walk(tree):
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                assigned = _assigned(scope)
                for node in _own(scope):
                    printed = _printed(node, assigned)
                    if printed is not None:
                        found[name, node.lineno, node.end_lineno or node.lineno] = printed
    return found


def _own(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function without those of functions inside it."""
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.stmt):
            yield node
        stack.extend(ast.iter_child_nodes(node))


def _assigned(scope: ast.AST) -> list[tuple[int, str, ast.expr]]:
    return [
        (node.lineno, target.id, node.value)
        for node in _own(scope)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]


def _printed(node: ast.stmt, assigned: list[tuple[int, str, ast.expr]]) -> tuple[str, ...] | None:
    if isinstance(node, ast.Raise):
        parts = list(node.exc.args) if isinstance(node.exc, ast.Call) else []
    elif isinstance(node, ast.Assert):
        parts = [node.msg] if node.msg is not None else []
    else:
        return None
    known = {name: value for line, name, value in sorted(assigned, key=lambda one: one[0]) if line < node.lineno}
    return tokens(" ".join([_text(part, known) for part in parts]), _FILLED)


def _text(node: ast.expr, known: Mapping[str, ast.expr]) -> str:
    """The text of an expression, with a mark where something is filled in; ``known``: what names stand for."""
    match node:
        case ast.Constant(value):
            return value if isinstance(value, str) else ""
        case ast.Name(name) | ast.FormattedValue(ast.Name(name), -1, None) if name in known:
            # What it stands for may name the same again: `message = f"{message} ..."`.
            return _text(known[name], {other: value for other, value in known.items() if other != name})
        case ast.JoinedStr(values):
            return "".join([_text(part, known) for part in values])
        case ast.BinOp(left, ast.Add(), right):
            return _text(left, known) + _text(right, known)
        case ast.BinOp(left):
            return re.sub(r"%\S", _FILLED, _text(left, known))
        case ast.Call(ast.Attribute(value, "format")):
            return re.sub(r"\{[^}]*\}", _FILLED, _text(value, known))
    return _FILLED


def distinctive(site: Site, printed: dict[Site, tuple[str, ...]], holders: dict[str, set[Site]]) -> tuple[str, ...]:
    """Words of a site that no other site prints all of, rarest first taken, in the order they are printed."""
    whole_text = list(dict.fromkeys(printed[site]))
    early = _early(whole_text)
    words = early if len(early) >= FEWEST else whole_text
    rarest = sorted(words, key=lambda word: (len(holders[word]), words.index(word)))
    whole = set.intersection(*(holders[word] for word in words)) if words else set()
    chosen: list[str] = []
    for word in rarest[:MOST]:
        chosen.append(word)
        if len(chosen) >= FEWEST and set.intersection(*(holders[one] for one in chosen)) == whole:
            break
    return tuple(word for word in words if word in chosen)


def _early(words: list[str]) -> list[str]:
    """The words within the first characters of a message, as far as what is filled in lets one say."""
    found: list[str] = []
    for word in words:
        if sum(len(one) + 2 for one in found) + len(word) > EARLY:
            break
        found.append(word)
    return found


def recorded(files: Iterable[Path]) -> dict[str, tuple[str, ...]]:
    """The words that every recorded message of a line shares."""
    found: dict[str, tuple[str, ...]] = {}
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for case in (json.loads(line) for line in lines):
                if case.get("words") and case.get("where"):
                    own = tokens(re.sub(r"^\w*(Error|Exception)\b:?", "", case["words"]))
                    found[case["where"]] = tuple(one for one in found.get(case["where"], own) if one in own)
    return found


def main() -> None:
    """Write the file of one release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--release", required=True)
    parser.add_argument("--records", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    heard = recorded(options.records)
    printed = texts(package_of(options.tree))
    holders: dict[str, set[Site]] = {}
    for site, words in printed.items():
        for word in words:
            holders.setdefault(word, set()).add(site)
    rules: dict[str, tuple[str, ...]] = {}
    cited: set[Site] = set()
    for rule in sorted(load(options.release).rules.values(), key=lambda one: one.id):
        for source in rule.sources:
            if source.release != options.release or rule.kind not in ("error", "defect"):
                continue
            for site in printed:
                if site[0] == source.file and site[1] <= source.line <= site[2]:
                    cited.add(site)
                    if words := distinctive(site, printed, holders):
                        rules[rule.id] = words
            shared = heard.get(f"{source.file}:{source.line}", ())
            if rule.id not in rules and len(shared) >= FEWEST:
                rules[rule.id] = shared[:MOST]
    others = {
        f"{site[0]}:{site[1]}": words
        for site in sorted(printed)
        if site not in cited and site[0].startswith(REFUSING) and (words := distinctive(site, printed, holders))
    }
    lines = [
        "# Written by collect_words.py: a few words of what SGLang prints where it refuses: `rules` by rule;",
        "# `sites` are lines that no rule explains.",
        f'release: "{options.release}"',
        "rules:",
        *(f"  {name}: [{_listed(words)}]" for name, words in rules.items()),
        "sites:",
        *(f"  {place}: [{_listed(words)}]" for place, words in others.items()),
    ]
    target = PLACE / f"{options.release}.yaml"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{target}: {len(rules)} rules, {len(others)} other sites")


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


if __name__ == "__main__":
    main()
