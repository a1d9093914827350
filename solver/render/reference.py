"""The knowledge of all releases -> reference pages in markdown: rules by topic, flags, GPUs, checkpoints, profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from constraints.knowledge import Knowledge
from constraints.models_schema import Catalogue
from constraints.schema import Example, Flag, Rule
from constraints.tree import Node, describe, names

from .sentence import shown

_KINDS = {
    "error": "refused",
    "defect": "known defect",
    "warning": "warning",
    "fill": "fills what is unset",
    "set": "changes what stands there",
    "rename": "renames",
}
# A longer expression is read better in its file, where its parts have names.
LONGEST = 240
# Cases of one rule that are told.
MOST = 6
_NOTE = "Generated from the knowledge by `python docs/generate.py`; do not edit."


def pages(known: Sequence[Knowledge], catalogue: Catalogue) -> dict[str, str]:
    """Every page by its path; ``known`` from the newest release to the oldest."""
    topics: dict[str, list[str]] = {}
    for rule_id in sorted({rule_id for one in known for rule_id in one.rules}):
        rule = next(one.rules[rule_id] for one in known if rule_id in one.rules)
        topics.setdefault(_topic(rule), []).append(rule_id)
    made = {f"rules/{topic}.md": _rules(topic, ids, known) for topic, ids in sorted(topics.items())}
    made["flags.md"] = _flags(known)
    made["gpus.md"] = _gpus(known[0])
    made["models.md"] = _models(catalogue)
    made["profiles.md"] = _profiles(known[0])
    made["README.md"] = _index(known, {topic: len(ids) for topic, ids in sorted(topics.items())})
    return made


def _topic(rule: Rule) -> str:
    parts = rule.file.split("/")
    return parts[parts.index("rules") + 1].removesuffix(".yaml")


def _page(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"# {title}", "", _NOTE, "", *lines]).rstrip() + "\n"


def _index(known: Sequence[Knowledge], topics: Mapping[str, int]) -> str:
    read = ", ".join(f"{one.release} ({len(one.rules)} rules, {len(one.flags)} flags)" for one in known)
    lines = [f"Releases that were read: {read}.", ""]
    lines += [f"- [Rules: {topic}](rules/{topic}.md): {count}" for topic, count in topics.items()]
    lines += ["- [Flags](flags.md)", "- [GPUs](gpus.md)", "- [Checkpoints](models.md)", "- [Profiles](profiles.md)"]
    return _page("Reference", lines)


def _rules(topic: str, ids: Sequence[str], known: Sequence[Knowledge]) -> str:
    lines = []
    for rule_id in ids:
        standing = [(one.release, one.rules[rule_id]) for one in known if rule_id in one.rules]
        lines += [f"### {rule_id}", "", *_rule(standing, known), ""]
    return _page(f"Rules: {topic}", lines)


def _rule(standing: Sequence[tuple[str, Rule]], known: Sequence[Knowledge]) -> Iterator[str]:
    rule = standing[0][1]
    releases = "every release" if len(standing) == len(known) else ", ".join(name for name, _ in standing)
    yield f"**{rule.title}** ({_KINDS[rule.kind]}, {rule.stage}, {releases}). {' '.join(rule.reason.split())}".rstrip()
    yield ""
    yield from (f"- {line}" for line in _body(rule))
    for name, other in standing[1:]:
        if _body(other) != _body(rule):
            yield f"- In {name}: " + "; ".join(_body(other))
    if rule.fix:
        yield f"- Do: {' '.join(rule.fix.split())}"
    where = [f"{name} `{found.file}:{found.line}`" for name, one in standing if (found := one.source(name)) is not None]
    yield "- Source: " + (", ".join(where) or "a rule of this tool") + f"; `constraints/{rule.file}`"
    for word, examples in (("Breaks it", rule.violates), ("Keeps it", rule.satisfies)):
        if examples:
            yield f"- {word}: {_example(examples[0])}"


def _body(rule: Rule) -> list[str]:
    lines = []
    if rule.when is not None:
        lines.append(f"When `{_short(rule.when)}`")
    if rule.require is not None:
        lines.append(f"Requires `{_short(rule.require)}`")
    for case in rule.cases[:MOST]:
        written = ", ".join(f"`{target} = {_short(value)}`" for target, value in case.writes)
        lines.append((f"If `{_short(case.when)}`: " if case.when is not None else "Writes ") + written)
    if len(rule.cases) > MOST:
        lines.append(f"and {len(rule.cases) - MOST} more cases")
    return lines


def _short(node: Node) -> str:
    text = describe(node)
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " ..."


def _example(one: Example) -> str:
    env = "".join(f"{name}={value} " for name, value in one.env)
    return f"{one.model} on {one.gpu}: `{env}{one.args}`"


def _flags(known: Sequence[Knowledge]) -> str:
    readers: dict[str, int] = {}
    for rule in {rule.id: rule for one in reversed(known) for rule in one.rules.values()}.values():
        written = frozenset(target for case in rule.cases for target, _ in case.writes)
        for name in names(rule.when) | names(rule.require) | written:
            readers[name] = readers.get(name, 0) + 1
    newest = {name: flag for one in reversed(known) for name, flag in one.flags.items()}
    groups: dict[str, list[Flag]] = {}
    for name in sorted(newest):
        groups.setdefault(newest[name].group, []).append(newest[name])
    lines = []
    for group, flags in sorted(groups.items()):
        lines += [
            f"## {group}",
            "",
            "| flag | type | default | values | rules | releases |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_flag(flag, readers.get(flag.name, 0), known) for flag in flags]
        lines.append("")
    return _page("Flags", lines)


def _flag(flag: Flag, readers: int, known: Sequence[Knowledge]) -> str:
    releases = [one.release for one in known if flag.name in one.flags]
    values = ", ".join(shown(one) for one in flag.choices or ())
    cells = (
        ", ".join(f"`{option}`" for option in flag.options) or flag.name,
        flag.type,
        shown(flag.default),
        values,
        str(readers or ""),
        "all" if len(releases) == len(known) else ", ".join(releases),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _gpus(knowledge: Knowledge) -> str:
    lines = [
        "| GPU | also called | vendor | capability | memory GiB | memory GB/s | bf16 TFLOPS | link GB/s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for gpu in knowledge.gpus.values():
        facts, speed = gpu.facts, gpu.measures
        capability = facts.get("gpu.gcn_arch") or f"{facts.get('gpu.major')}.{facts.get('gpu.minor')}"
        memory = int(str(facts["gpu.memory_mib"])) / 1024
        cells = (
            *(gpu.name, ", ".join(gpu.aliases), str(facts.get("gpu.vendor")), str(capability), f"{memory:.0f}"),
            *(f"{speed.bandwidth_gbs:g}", f"{speed.tflops.get('bf16', 0):g}" if speed.tflops.get("bf16") else ""),
            "" if speed.link_gbs is None else f"{speed.link_gbs:g}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return _page("GPUs", lines)


def _models(catalogue: Catalogue) -> str:
    lines = [
        "Any folder or `config.json` works too; these are known by name.",
        "",
        "| checkpoint | same config | billions of parameters | what it is for |",
        "|---|---|---|---|",
    ]
    for one in catalogue.checkpoints:
        drafts = f"draft for {one.draft_of}" if one.draft_of else one.about
        size = "" if one.parameters is None else f"{one.parameters:g}"
        lines.append(f"| {one.id} | {', '.join(one.aliases)} | {size} | {drafts} |")
    return _page("Checkpoints", lines)


def _profiles(knowledge: Knowledge) -> str:
    lines = []
    for profile in knowledge.profiles.values():
        lines += [f"## {profile.name}", "", profile.about, ""]
        lines.append(f"- closeness (weight {profile.closeness}): a flag left where SGLang would leave it")
        for term in profile.terms:
            lines.append(f"- {term.name} (weight {term.weight}): {term.about} `{_short(term.node)}`")
        if profile.lacks:
            lines.append(f"- does not know yet: {'; '.join(profile.lacks)}")
        lines.append("")
    return _page("Profiles", lines)
