"""Conflicts and ways out -> lines of at most 80 columns: numbered steps, then commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from constraints.values import same

from ..report import Adjustment, Core, Element, Explanation, Fix, Subject
from .sentence import counted, shown, wrapped

CUT_SHORT = "There may be more conflicts: the search was cut short."


def command(subject: Subject, args: Sequence[str], model: str | None = None) -> str:
    """A launch command, a line for each option."""
    words = ["python -m sglang.launch_server", f"--model-path {shlex.quote(model or subject.model)}"]
    for word in args:
        if word.startswith("--"):
            words.append(shlex.quote(word))
        else:
            words[-1] += " " + shlex.quote(word)
    return " \\\n  ".join(words)


def conflicts(found: Explanation) -> list[str]:
    """Why nothing holds, step by step, each step told once; then what helps."""
    lines = [""]
    told: dict[str, int] = {}
    for number, core in enumerate(found.cores, 1):
        if len(found.cores) > 1:
            lines += [""] if number > 1 else []
            lines.append(f"Conflict {number} of {len(found.cores)}:")
        else:
            lines.append("Why:")
        lines += _steps(core, told)
    if not found.complete:
        lines += ["", CUT_SHORT]
    if found.sampled:
        lines += ["", wrapped("Numbers were tried at the values that rules tell apart, not all.")]
    if found.fixes:
        lines += ["", "Any one of these helps:" if len(found.fixes) > 1 else "This helps:"]
        for number, fix in enumerate(found.fixes, 1):
            lines += _fix(number, fix, found)
    else:
        lines.append("")
        lines.append(
            wrapped(
                "No way out was found: neither fewer or other flags, nor another GPU, count, release or checkpoint, "
                "as far as they may change."
            )
        )
    return lines


def _steps(core: Core, told: dict[str, int]) -> list[str]:
    """The premises of a conflict and the rules they meet, numbered through the whole answer."""
    lines: list[str] = []
    used: list[int] = []
    for one in core.elements:
        text = element(one)
        known = told.get(text)
        if known is None:
            known = told[text] = len(told) + 1
            lines.append(wrapped(text, " " * 6, f"  {known:>2}. "))
            if one.rule is not None:
                lines.append(wrapped(_place(one), " " * 8, " " * 6))
        used.append(known)
    lines.append(wrapped(_contradiction(core, used), " " * 6, "      "))
    return lines


def _contradiction(core: Core, used: Sequence[int]) -> str:
    checks = [place for place, one in zip(used, core.elements, strict=True) if one.kind == "rule"]
    premises = [place for place in used if place not in checks]
    if not checks:
        return f"{_listed(used)} cannot be so at once."
    if not premises:
        return f"{_listed(checks)} cannot be met here."
    return f"=> {_listed(premises)} {'break' if len(premises) > 1 else 'breaks'} {_listed(checks)}."


def _listed(numbers: Sequence[int]) -> str:
    words = [str(one) for one in sorted(numbers)]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def element(one: Element) -> str:
    """One part of a conflict, in a few words."""
    name = one.origin if one.kind == "pin" and one.origin else one.name
    if one.kind == "pin":
        if one.value is None:
            return f"{name} is not given"
        return f"you ask for {name}" + ("" if one.value is True else f" {shown(one.value)}")
    if one.kind == "fact":
        said = _FACTS.get(one.name, one.name + " is {}").format(shown(one.value))
        return said + (f" ({one.origin})" if one.origin else "")
    if one.kind == "release":
        return f"this is SGLang {one.value}; other releases differ here"
    if one.kind == "default":
        return _decided(one)
    return f"the rule: {one.rule.title}" if one.rule is not None else one.name


# Facts whose names a reader need not know.
_FACTS = {
    "gpu.major": "the GPU is of compute capability {}.x",
    "gpu.vendor": "the GPU's vendor is {}",
    "num_gpus": "GPUs on each node: {}",
    "nodes": "nodes: {}",
    "runtime.cuda": "CUDA is {}",
    "model.is_mla": "the model has latent attention (MLA): {}",
    "model.attention_arch": "the model's attention is {}",
    "model.architecture": "the model's architecture is {}",
    "model.is_moe": "the model is a mixture of experts: {}",
    "model.quantization": "the checkpoint's quantization is {}",
    "gpu.memory_mib": "a GPU has {} MiB of memory",
    "model.size.certain": "the sizes of this architecture and its number format are known: {}",
    "model.size.cut_mib": "all ranks share {} MiB of MLPs, experts, embedding and head",
    "model.size.heads_mib": "ranks of attention share {} MiB of its weights",
    "model.size.whole_mib": "{} MiB of weights are copied to every rank",
}


def _decided(one: Element) -> str:
    title = f": {one.rule.title}" if one.rule is not None else ""
    if one.value is None:
        return f"SGLang decides {one.name}{title}"
    if one.before is None or same(one.before, one.value):
        return f"SGLang sets {one.name} to {shown(one.value)}{title}"
    return f"SGLang makes {one.name} {shown(one.value)} instead of {shown(one.before)}{title}"


def _place(one: Element) -> str:
    if one.rule is None:
        return ""
    place = f"SGLang {one.source.release} {one.source.file}:{one.source.line}" if one.source else "a rule of this tool"
    return f"[{one.rule.id}, {place}]"


def _fix(number: int, fix: Fix, found: Explanation) -> list[str]:
    lines = [wrapped("; ".join(changes(fix)) or "as it is", "     ", f"  {number}  ")]
    if fix.also:
        more = ", ".join(fix.also[:8]) + (f" and {len(fix.also) - 8} more" if len(fix.also) > 8 else "")
        lines.append(wrapped(f"(as well: {more})", "     "))
    lines += ["       " + line for line in command(found.subject, fix.args, fix.model).splitlines()]
    return lines


def changes(fix: Fix) -> list[str]:
    """What a fix changes, each said as a difference from what was asked."""
    return [_change(one) for one in fix.changes]


_ASPECTS = {
    "gpu": "run it on {after} instead of {before}",
    "num_gpus": "use {after} instead of {before}",
    "release": "use SGLang {after} instead of {before}",
    "model": "serve {after} instead of {before}",
}


def _change(one: Adjustment) -> str:
    """One change, said as a difference from what was asked."""
    if one.what in _ASPECTS and not one.option:
        number = one.after if one.what == "num_gpus" and isinstance(one.after, int) else None
        after = shown(one.after) if number is None else counted(number, "GPU")
        return _ASPECTS[one.what].format(after=after, before=shown(one.before))
    name = one.option or one.what
    if one.after is None:
        return f"drop {name}" + ("" if one.before is True else f" {shown(one.before)}")
    new = name if one.after is True else f"{name} {shown(one.after)}"
    return f"add {new}" if one.before is None else f"{new} instead of {shown(one.before)}"
