"""The knowledge of one release -> what is wrong across its files: one function a check, each gives findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from .domains import domains
from .errors import Fault
from .knowledge import HOME, Knowledge
from .load import load, read_folder, read_one
from .models_load import load_models
from .models_schema import ModelKnowledge
from .read import Listed, Mapped
from .schema import Operation, Rule
from .tree import Name, Node, literals, names
from .values import Value, same

_WORD = re.compile(r"[^\W\d_]{2,}")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_NAMESPACES = ("gpu.", "runtime.", "package.")
_MACHINE = frozenset(("num_gpus", "nodes", "model.path", "gpu.memory_told"))


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing to look at: a ``fault`` is wrong, a ``note`` wants a reason."""

    fault: Fault
    severity: Literal["fault", "note"] = "fault"
    check: str = ""

    def __str__(self) -> str:
        return f"{self.fault} [{self.check}]"


@dataclass(frozen=True, slots=True)
class Subject:
    """What the checks read: the knowledge of one release and of its models, and the domain of every flag.

    ``others`` are domains of the other releases: a shared set may hold a value that is another release's.
    """

    knowledge: Knowledge
    models: ModelKnowledge
    domains: Mapping[str, tuple[Value, ...] | None]
    others: tuple[Mapping[str, tuple[Value, ...] | None], ...]


Check = Callable[[Subject], Iterable[Fault]]


def unknown_names(subject: Subject) -> Iterator[Fault]:
    """Names that a rule reads and that nothing gives a value."""
    known = known_names(subject.knowledge, subject.models)
    told: set[tuple[str, str]] = set()
    for operation in subject.knowledge.program:
        for name in sorted(reads(operation)):
            if not known(name) and (operation.rule.id, name) not in told:
                told.add((operation.rule.id, name))
                yield _of(operation.rule, f"reads {name}, which is no flag, fact or value that a rule writes")


def known_names(knowledge: Knowledge, models: ModelKnowledge) -> Callable[[str], bool]:
    """Whether a name has a meaning in the release."""
    fixed = set(knowledge.flags) | set(_MACHINE) | set(models.derivations)
    fixed |= {f"draft.{name.removeprefix('model.')}" for name in models.derivations if name.startswith("model.")}
    fixed |= {target for rule in knowledge.rules.values() for case in rule.cases for target, _ in case.writes}
    fixed |= {f"{space}.{name}" for name in knowledge.environment for space in ("env", "env_set")}
    for release in knowledge.releases.values():
        fixed |= {fact for image in release.images.values() for fact in image}
    fixed |= {fact for gpu in knowledge.gpus.values() for fact in gpu.facts}

    def known(name: str) -> bool:
        if name in fixed:
            return True
        if name.startswith("typed."):
            return known(name.removeprefix("typed.")) and not name.startswith(("typed.local.", "typed.env."))
        if name.startswith("package."):  # a package that no image has
            return True
        # A key of a JSON object that is given to a flag.
        return not name.startswith(_NAMESPACES) and name.split(".")[0] in knowledge.flags and "." in name

    return known


def unknown_targets(subject: Subject) -> Iterator[Fault]:
    """Environment variables that a rule writes and that env.yaml does not know, and flags that are misspelled."""
    knowledge = subject.knowledge
    for rule in _rules(knowledge):
        for target in sorted({target for case in rule.cases for target, _ in case.writes}):
            if target.startswith("env.") and target.removeprefix("env.") not in knowledge.environment:
                yield _of(rule, f"writes {target}, which env.yaml does not know")
            if "." not in target and target not in knowledge.flags:
                yield _of(rule, f"writes {target}, which is no flag of {knowledge.release}")


def unread_locals(subject: Subject) -> Iterator[Fault]:
    """Locals that are written and never read."""
    read = {name for operation in subject.knowledge.program for name in reads(operation)}
    for rule in _rules(subject.knowledge):
        for target in sorted({target for case in rule.cases for target, _ in case.writes}):
            if target.startswith("local.") and target not in read:
                yield _of(rule, f"writes {target}, which nothing reads")


def literals_outside(subject: Subject) -> Iterator[Fault]:
    """Literals that a flag with choices is compared with and can never be."""
    told: set[tuple[str, str, str]] = set()
    for operation in subject.knowledge.program:
        for node in nodes(operation):
            for name, value in literals(node):
                flag = name.removeprefix("typed.")
                if (key := (operation.rule.id, flag, repr(value))) in told:
                    continue
                told.add(key)
                if not _possible(flag, value, subject.domains) and not any(
                    _possible(flag, value, other, absent=False) for other in subject.others
                ):
                    yield _of(operation.rule, f"compares {name} with {value!r}, which it can never be")


def hollow_conditions(subject: Subject) -> Iterator[Fault]:
    """Conditions that only another release can meet: no value they ask a flag for exists in this one."""
    told: set[tuple[str, str]] = set()
    for operation in subject.knowledge.program:
        rule = operation.rule
        for node in () if rule.when is None else (rule.when,):
            groups: dict[str, list[bool]] = {}
            for name, value in literals(node):
                possible = _possible(name.removeprefix("typed."), value, subject.domains)
                groups.setdefault(name, []).append(possible)
            for name, possible_ones in groups.items():
                if not any(possible_ones) and (rule.id, name) not in told:
                    told.add((rule.id, name))
                    yield _of(rule, f"no value that {name} is compared with exists in {subject.knowledge.release}")


def wordless_rules(subject: Subject) -> Iterator[Fault]:
    """Refusals that do not say why, or what to do."""
    for rule in _rules(subject.knowledge):
        if rule.kind in ("error", "defect"):
            for key, text in (("reason", rule.reason), ("fix", rule.fix)):
                if not text.strip():
                    yield _of(rule, f"has no {key}")


def unsourced_rules(subject: Subject) -> Iterator[Fault]:
    """Rules without a source in this release, and anchors without a word."""
    for rule in _rules(subject.knowledge):
        if not any(source.release == subject.knowledge.release for source in rule.sources) and rule.sources:
            yield _of(rule, f"has no source in {subject.knowledge.release}")
        for source in rule.sources:
            if source.release == subject.knowledge.release and not _WORD.search(source.anchor):
                yield _of(rule, f"the anchor of {source.file}:{source.line} has no word")


def typed_reads(subject: Subject) -> Iterator[Fault]:
    """Rules that look at what was typed instead of at what stands."""
    for rule in _rules(subject.knowledge):
        typed = sorted({name for node in rule_nodes(rule) for name in names(node) if name.startswith("typed.")})
        if typed:
            yield _of(rule, f"reads {', '.join(typed)}")


def without_examples(subject: Subject) -> Iterator[Fault]:
    """Errors of SGLang's own that nothing shows."""
    for rule in _rules(subject.knowledge):
        if rule.kind == "error" and not rule.violates and not rule.note:
            yield _of(rule, "has no example that violates it and no note why")


def unknown_evidence(subject: Subject) -> Iterator[Fault]:
    """Names that evidence reads, or is about, and that nothing gives a value."""
    knowledge = subject.knowledge
    known = known_names(knowledge, subject.models)
    for entry in knowledge.evidence:
        about = {name for use in entry.uses for name in names(knowledge.names.get(use, Name(use)))}
        for name in sorted(name for name in names(entry.when) | about if not known(name)):
            yield Fault("evidence", 1, f"{entry.id}: {name} is no flag, fact or value that a rule writes")


FAULTS: tuple[Check, ...] = (
    unknown_names,
    unknown_evidence,
    unknown_targets,
    unread_locals,
    literals_outside,
    hollow_conditions,
    wordless_rules,
    unsourced_rules,
)
NOTES: tuple[Check, ...] = (typed_reads, without_examples)


def lint(release: str, others: Iterable[str] = ()) -> list[Finding]:
    """Every finding in the knowledge of ``release``; ``others`` are the releases that share its files.

    Raises KnowledgeError when the knowledge cannot be read at all.
    """
    knowledge = load(release)
    subject = Subject(
        knowledge,
        load_models(release),
        domains(knowledge),
        tuple(domains(load(other)) for other in others if other != release),
    )
    found = [
        Finding(fault, "fault" if check in FAULTS else "note", check.__name__.replace("_", "-"))
        for check in (*FAULTS, *NOTES)
        for fault in check(subject)
    ]
    return sorted(found)


def unused_names(home: Path = HOME) -> list[Fault]:
    """Shared names that no file of any release uses."""
    faults: list[Fault] = []
    sglang = home / "sglang"
    defined: dict[str, Fault] = {}
    used: dict[str, set[str]] = {}
    for path in (sglang / "names.yaml", *sorted((sglang / "names").glob("*.yaml"))):
        document = read_one(path, faults)
        for name, data in (document["names"] if document else {}).items():
            defined[name] = Fault(str(path.relative_to(home)), document["names"].line_of(name) if document else 1, name)
            used[name] = set(_tokens(data))
    outside: set[str] = set()
    for folder in (sglang / "rules", sglang / "steps", home / "profiles", home / "models"):
        for document in read_folder(folder, faults).values():
            outside |= set(_tokens(document))
    outside |= set(_tokens(read_one(sglang / "variables.yaml", faults)))
    left = [name for name in defined if name in outside]
    while left:
        left.extend(fresh := [name for name in used.pop(left.pop(), ()) if name in used and name not in left])
        outside |= set(fresh)
    return sorted(
        Fault(fault.file, fault.line, f"the name {name} is used nowhere")
        for name, fault in defined.items()
        if name not in outside
    )


def reads(operation: Operation) -> frozenset[str]:
    """Every name an operation reads."""
    return frozenset(chain.from_iterable(names(node) for node in nodes(operation)))


def nodes(operation: Operation) -> Iterator[Node]:
    """Every expression of an operation."""
    yield from (node for node in (operation.when, operation.require) if node is not None)
    for case in operation.cases:
        yield from (node for node in (case.when, *(value for _, value in case.writes)) if node is not None)


def rule_nodes(rule: Rule) -> Iterator[Node]:
    """Every expression of a rule as written, without the guards of its step."""
    yield from (node for node in (rule.when, rule.require) if node is not None)
    for case in rule.cases:
        yield from (node for node in (case.when, *(value for _, value in case.writes)) if node is not None)


def _possible(flag: str, value: Value, domain: Mapping[str, tuple[Value, ...] | None], *, absent: bool = True) -> bool:
    if flag not in domain:
        return absent
    known = domain[flag]
    return known is None or value is None or any(same(value, one) for one in known)


def _rules(knowledge: Knowledge) -> list[Rule]:
    return [knowledge.rules[name] for name in sorted(knowledge.rules)]


def _of(rule: Rule, message: str) -> Fault:
    return Fault(rule.file, rule.line, f"{rule.id} {message}")


def _tokens(data: Any) -> Iterator[str]:
    if isinstance(data, Mapped):
        for value in data.values():
            yield from _tokens(value)
    elif isinstance(data, Listed):
        for value in data:
            yield from _tokens(value)
    elif isinstance(data, str):
        yield from _DOTTED.findall(data)
