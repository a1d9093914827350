"""Pins that cannot hold together -> the smallest set of rules that forbids them, with the facts those rules read."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from constraints.schema import FACTS, WRITERS, Rule
from constraints.tree import Const, names

from .case import WHOLE_BUDGET, Case
from .errors import TooLarge
from .pins import Asked
from .report import Element
from .resolution import Resolution, Write
from .unsaid import goes_without_saying

# Values tried before a rule that might be left out is kept.
BUDGET = 4_000


def blame(case: Case, places: frozenset[int], only: str | None = None) -> list[Element]:
    """The rules, chosen defaults and facts of one minimal conflict; the pins at ``places`` must not hold together.

    ``only`` is the one check in force, if they do not hold together for its sake alone.

    Checks can be blamed, and of the writing rules those that decide a flag the question is about when the pins alone
    are typed; every other write is background.
    """
    restricted = case.restricted(places)
    every = case.blamable
    witness = case.witness(places)
    fired = {write.operation.rule.id for write in witness.writes if write.target in case.open_flags}
    out = case.checks_but(only) if only is not None else case.unmet
    blamable = [one for one in every if one not in out and (case.rules[one].kind not in WRITERS or one in fired)]
    try:
        told = case.refuter.rules_of(case.refuter.refute(restricted, out) or ())
    except TooLarge:
        told = every
    core = [one for one in told if one in blamable]
    broken = [one.rule.id for one in witness.broken if one.rule.id not in out]

    def refuted(kept: Collection[str], budget: int) -> frozenset[object] | None:
        off = out.union(one for one in blamable if one not in kept)
        if case.stands(places, off):
            return None
        try:
            return case.refuter.refute(restricted, off, budget)
        except TooLarge:  # not shown to be enough within the budget
            return None

    # One rule may be enough, or those of one matter: that is quickly seen, and reads best.
    for group in ([one] for one in broken), (_akin(case, one, core) for one in broken):
        enough = next((kept for kept in group if refuted(kept, WHOLE_BUDGET) is not None), None)
        if enough is not None:
            core = enough
            break
    core.sort(key=lambda one: (one in broken, case.rules[one].kind not in WRITERS, every.index(one)))
    needed: list[str] = []
    while core:
        tried = core.pop(0)
        found = refuted({*core, *needed}, BUDGET)
        if found is None:
            needed.append(tried)
        else:
            inside = set(case.refuter.rules_of(found))
            core = [one for one in core if one in inside]
    if (
        not needed and only is not None
    ):  # seen in a run alone: what the two readers see differently is broken all the same
        needed = [only]
    chosen = [case.rules[one] for one in every if one in needed]
    return _told(case, chosen, witness)


def _told(case: Case, chosen: Sequence[Rule], witness: Resolution) -> list[Element]:
    """What is said of the rules of a conflict: the facts that they read, the release where it matters, each rule."""
    wrote = {write.operation.rule.id: write for write in witness.writes if not write.target.startswith("local.")}
    facts = _facts(case.asked, [rule for rule in chosen if rule.kind not in WRITERS])
    release = case.asked.knowledge.release
    bound = [Element("release", "release", release)] if any(_dated(rule) for rule in chosen) else []
    return [*facts, *bound, *(_element(case, rule, wrote.get(rule.id)) for rule in chosen)]


def _akin(case: Case, rule: str, among: Sequence[str]) -> list[str]:
    """The checks that read a fact which ``rule`` reads as well, and all that write."""
    known = case.asked.knowledge.rules
    facts = _fact_names(known[rule])
    return [one for one in among if known[one].kind in WRITERS or facts & _fact_names(known[one])]


def _fact_names(rule: Rule) -> frozenset[str]:
    return frozenset(name for name in names(rule.when) | names(rule.require) if name.partition(".")[0] in FACTS)


def _dated(rule: Rule) -> bool:
    """Whether some release has the rule otherwise, or not at all."""
    return rule.span.until is not None or not (rule.span.since or "<=").startswith("<=")


def _element(case: Case, rule: Rule, wrote: Write | None) -> Element:
    source = rule.source(case.asked.knowledge.release)
    if rule.kind in ("error", "defect", "warning"):
        return Element("rule", rule.id, None, rule, source)
    if wrote is not None:
        return Element("default", wrote.target, wrote.after, rule, source, before=wrote.before)
    targets = [target for one in rule.cases for target, _ in one.writes if not target.startswith("local.")]
    values = {node.value for one in rule.cases for _, node in one.writes if isinstance(node, Const)}
    value = next(iter(values)) if len(values) == 1 else None
    return Element("default", targets[0] if targets else rule.id, value, rule, source)


def _facts(asked: Asked, rules: Sequence[Rule]) -> list[Element]:
    """The facts without which some rule of the conflict would read otherwise."""
    facts = dict.fromkeys(
        name
        for rule in rules
        for name in asked.prepared.mattering(rule.id)
        if not goes_without_saying(asked, rule, name)
    )
    return [Element("fact", name, asked.facts[name], origin=_origin(asked, name)) for name in facts]


def _origin(asked: Asked, name: str) -> str:
    """Where a fact stands: the keys of config.json, those looked for and absent, or the GPU."""
    if name.startswith("gpu."):
        return asked.place.platform.gpu.name
    origin = asked.engine.model_facts(asked.place.model).origins.get(name)
    if origin is None:
        return ""
    if origin.found:
        return "config.json: " + ", ".join(origin.found[:3])
    return "config.json: no " + ", ".join(origin.absent[:2]) if origin.absent else ""
