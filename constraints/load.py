"""The files of the knowledge -> `Knowledge` of one release; every fault of every file is reported at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .environment_load import load_environment
from .errors import ExpressionError, Fault, KnowledgeError
from .evidence import evidence_names, load_evidence
from .expression import parse
from .flags import known_elsewhere, load_flags
from .hardware import load_gpus
from .knowledge import HOME, Knowledge
from .names import load_names
from .profiles import load_profiles
from .program import order_program
from .read import Mapped, read_file
from .release import nearest
from .releases import load_releases
from .rules import RuleReader
from .schema import Release
from .steps import StepTree
from .tree import Node
from .variables import load_variables


def read_folder(folder: Path, faults: list[Fault]) -> dict[str, Mapped]:
    """The documents of a folder and of those below it, by file name relative to the knowledge, in order of name."""
    documents: dict[str, Mapped] = {}
    for path in sorted(folder.rglob("*.yaml")):
        document = read_one(path, faults)
        if document is not None:
            documents[str(path.relative_to(HOME)) if path.is_relative_to(HOME) else str(path)] = document
    return documents


def read_one(path: Path, faults: list[Fault]) -> Mapped | None:
    """One document; a file that cannot be read adds its faults and gives None."""
    shown = str(path.relative_to(HOME)) if path.is_relative_to(HOME) else str(path)
    try:
        document = read_file(path, shown)
    except KnowledgeError as error:
        faults.extend(error.faults)
        return None
    if not isinstance(document, Mapped):
        faults.append(Fault(shown, 1, "must be a mapping"))
        return None
    return document


def known_releases(home: Path = HOME) -> tuple[str, ...]:
    """The releases that were read, oldest first.

    Raises KnowledgeError.
    """
    faults: list[Fault] = []
    releases = _releases(home, faults)
    if faults:
        raise KnowledgeError(faults)
    return tuple(releases)


def load(release: str, home: Path = HOME) -> Knowledge:
    """The knowledge of ``release``; of a release that was not read, the nearest that was.

    Raises KnowledgeError with every fault found.
    """
    faults: list[Fault] = []
    sglang = home / "sglang"
    releases = _releases(home, faults)
    if not releases:
        raise KnowledgeError(faults or [Fault(str(sglang), 1, "holds no release")])
    release = nearest(release, releases)
    named = load_names(_documents(sglang, ("names.yaml", "names"), faults), release, faults)
    flag_files = read_folder(sglang / "flags", faults)
    flags = load_flags(flag_files, release, faults)
    step_file = f"sglang/steps/{release}.yaml"
    document = read_one(home / step_file, faults)
    steps = StepTree(document if document is not None else Mapped(1), step_file, named, faults)
    reader = RuleReader(release, named, steps, faults)
    for file, rules in read_folder(sglang / "rules", faults).items():
        reader.read(rules, file)
    choices = read_one(sglang / "variables.yaml", faults)
    evidence = load_evidence(read_folder(home / "evidence", faults), release, named, faults)
    lists = choices if choices is not None else Mapped(1)
    knowledge = Knowledge(
        release=release,
        releases=releases,
        flags=flags,
        elsewhere=known_elsewhere(flag_files, release, faults),
        environment=load_environment(
            read_one(sglang / "env.yaml", faults) or Mapped(1), "sglang/env.yaml", release, faults
        ),
        names=named,
        steps=steps.steps,
        rules={rule.id: rule for rule in reader.rules},
        program=order_program(reader.rules, steps),
        gpus=load_gpus(read_folder(home / "gpus", faults), faults),
        roles=_roles(read_one(sglang / "roles.yaml", faults)),
        variables=load_variables(choices, "sglang/variables.yaml", release, flags, named, faults),
        measures=frozenset(str(name) for name in lists.get("measures") or []),
        outcomes=frozenset(str(name) for name in lists.get("outcomes") or []),
        apart=_apart(lists.get("apart") or [], named, faults),
        evidence=evidence,
        profiles=load_profiles(
            read_folder(home / "profiles", faults), {**named, **evidence_names(evidence, named)}, faults
        ),
    )
    if faults:
        raise KnowledgeError(faults)
    return knowledge


def _releases(home: Path, faults: list[Fault]) -> dict[str, Release]:
    return load_releases(_documents(home / "sglang", ("releases.yaml",), faults), faults)


def _roles(document: Mapped | None) -> dict[str, str]:
    return {
        str(role): str(flag)
        for role, flag in ((document if document is not None else Mapped(1)).get("roles") or {}).items()
    }


def _apart(listed: Any, named: Mapping[str, Node], faults: list[Fault]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for name in listed:
        try:
            found[str(name)] = parse(str(name), named)
        except ExpressionError as fault:
            faults.append(Fault("sglang/variables.yaml", 1, str(fault)))
    return found


def _documents(folder: Path, names: tuple[str, ...], faults: list[Fault]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in names:
        path = folder / name
        if path.is_dir():
            found.update(read_folder(path, faults))
        elif path.suffix == ".yaml" and (document := read_one(path, faults)) is not None:
            found[str(path.relative_to(HOME)) if path.is_relative_to(HOME) else str(path)] = document
    return found
