"""The knowledge itself as lists and pages for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from constraints import store
from constraints.knowledge import Knowledge
from constraints.schema import Rule
from constraints.tree import describe
from constraints.values import Value

from ..errors import InputError
from ..given import flag_named
from ..near import named, nearest_names
from ..render.sentence import WIDTH, cited, shown, wrapped


def _knowledge(release: str | None) -> Knowledge:
    from constraints.release import nearest

    known = store.known_releases()
    try:
        found = nearest(known[-1] if release is None else release, known)
    except ValueError as fault:
        raise InputError(str(fault), "--release", "Known releases: " + ", ".join(known)) from None
    return store.knowledge_of(found)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of at most 80 columns."""
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    out = StringIO()
    # Not even where a variable forces colours: a table goes through what shows them instead of obeying.
    Console(file=out, width=WIDTH, force_terminal=False, color_system=None, highlight=False).print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def facts(found: Mapping[str, Value]) -> str:
    """Every fact that is set."""
    lines = ["", "Facts:"]
    lines += [
        wrapped(f"{name} = {shown(value)}", "      ", "  ")
        for name, value in sorted(found.items())
        if value is not None
    ]
    return "\n".join(lines) + "\n"


def rules(wanted: str | None, release: str | None) -> str:
    """All rules, a line each, or one whole.

    Raises InputError.
    """
    knowledge = _knowledge(release)
    if wanted is None:
        rows = ((rule.id, rule.kind, rule.stage, rule.title) for rule in knowledge.rules.values())
        return table(
            f"{len(knowledge.rules)} rules of SGLang {knowledge.release}", ("rule", "kind", "stage", "title"), rows
        )
    if wanted not in knowledge.rules:
        near = nearest_names(wanted, knowledge.rules, 3)
        raise InputError(f"no rule of {knowledge.release} is called {wanted!r}", "rules", None, near)
    return _rule(knowledge.rules[wanted], knowledge.release)


def _rule(rule: Rule, release: str) -> str:
    lines = [f"{rule.id}: {rule.title}", f"  {rule.kind} at stage {rule.stage}, step {rule.step}"]
    if rule.reason:
        lines.append(wrapped(rule.reason, "  "))
    if rule.fix:
        lines.append(wrapped("do: " + rule.fix, "  "))
    if rule.when is not None:
        lines.append(wrapped("when " + describe(rule.when), "    ", "  "))
    if rule.require is not None:
        lines.append(wrapped("requires " + describe(rule.require), "    ", "  "))
    for case in rule.cases:
        written = ", ".join(f"{target} = {describe(value)}" for target, value in case.writes)
        lines.append(wrapped((f"if {describe(case.when)}: " if case.when else "") + written, "    ", "  "))
    lines.append(wrapped(cited(rule, rule.source(release)), "    ", "  "))
    lines += [f"  also {one.release} {one.file}:{one.line}" for one in rule.sources if one.release != release]
    lines.append(f"  {rule.file}:{rule.line}")
    return "\n".join(lines) + "\n"


def flags(wanted: str | None, release: str | None) -> str:
    """All flags, a line each, or one whole.

    Raises InputError.
    """
    knowledge = _knowledge(release)
    if wanted is None:
        rows = (
            (", ".join(flag.options) or flag.name, flag.type, shown(flag.default)) for flag in knowledge.flags.values()
        )
        return table(f"{len(knowledge.flags)} flags of SGLang {knowledge.release}", ("flag", "type", "default"), rows)
    flag = knowledge.flags[flag_named(wanted, knowledge.flags)]
    lines = [f"{flag.name} ({flag.group})", f"  options: {', '.join(flag.options) or 'none on the command line'}"]
    lines.append(f"  type: {flag.type}, default: {shown(flag.default)}")
    if flag.choices:
        lines.append(wrapped("choices: " + ", ".join(shown(choice) for choice in flag.choices), "    ", "  "))
    readers = [rule.id for rule in knowledge.rules.values() if flag.name in _read_by(rule)]
    if readers:
        lines.append(wrapped("rules: " + ", ".join(readers), "    ", "  "))
    return "\n".join(lines) + "\n"


def _read_by(rule: Rule) -> frozenset[str]:
    from constraints.tree import names

    written = frozenset(target for case in rule.cases for target, _ in case.writes)
    return names(rule.when) | names(rule.require) | written


def gpus() -> str:
    """Every GPU."""
    knowledge = _knowledge(None)
    rows = (
        (
            gpu.name,
            str(gpu.facts.get("gpu.vendor")),
            str(gpu.facts.get("gpu.gcn_arch") or f"{gpu.facts.get('gpu.major')}.{gpu.facts.get('gpu.minor')}"),
            f"{int(str(gpu.facts['gpu.memory_mib'])) / 1024:.0f} GiB",
        )
        for gpu in knowledge.gpus.values()
    )
    return table(f"{len(knowledge.gpus)} GPUs", ("GPU", "vendor", "capability", "memory"), rows)


def models() -> str:
    """Every checkpoint of the catalogue."""
    catalogue = store.catalogue()
    rows = ((one.id, ", ".join(one.aliases)) for one in catalogue.checkpoints)
    return table(
        f"{len(catalogue.checkpoints)} checkpoints; any folder or config.json works too", ("model", "same config"), rows
    )


def profiles(wanted: str | None) -> str:
    """Every profile, with what it lacks, or one of them.

    Raises InputError.
    """
    known = _knowledge(None).profiles
    lines = []
    for profile in known.values() if wanted is None else (named(wanted, known, "profile", "profiles"),):
        lines.append(wrapped(f"{profile.name}: {profile.about}", "  ", ""))
        lines += [
            wrapped(f"{term.name} (weight {term.weight}): {term.about}", "      ", "    ") for term in profile.terms
        ]
        lines.append(wrapped("does not know yet: " + "; ".join(profile.lacks), "      ", "    "))
    return "\n".join(lines) + "\n"
