"""A file's launches, and what the asker says of the machine -> what SGLang does with each, and all together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from constraints.evaluate import evaluate
from constraints.tree import names
from constraints.values import Value

from .api import Preflight
from .check import Checked
from .errors import InputError
from .facts import Platform
from .file_meant import hinted, named_last, same_name, visible
from .file_report import FileReport, LaunchReport, PairFinding
from .file_unknown import certain_rules, unknown_values, unseen_variables, unset_variables
from .intake.command import parse_arguments
from .intake.files import read_launches
from .intake.hub import Hub
from .intake.launch import Launch
from .intake.parsed import Parsed
from .intake.refusal import Refusal
from .intake.tokens import Word
from .machine import MAX_NODES, platform_of
from .model_input import NOWHERE
from .proof import holds
from .unknown import Hole, holes_of, tried


@dataclass(frozen=True, slots=True)
class Asked:
    """What the asker says beside the file; it goes before what the file says, but for the number of GPUs."""

    gpu: str | None = None
    model: str | None = None
    release: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    without: Sequence[str] = ()
    cuda: str | None = None
    memory_gib: float | None = None
    nodes: int = 1
    why: bool = True
    keep: frozenset[str] = frozenset()
    hub: Hub = NOWHERE


class FileChecker:
    """Checks files; what was read of a release serves the next launch."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self._answers: dict[str | None, Preflight] = {}

    def check(self, text: str, file: str) -> FileReport:
        """What SGLang does with every launch in a file.

        Raises InputError.
        """
        launches = read_launches(text, file, self.preflight(None).knowledge.flags)
        reports = tuple(self._launch(one) for one in launches)
        return FileReport(file, reports, self._pairs(reports))

    def preflight(self, release: str | None) -> Preflight:
        """The answers for a release; None: the one asked for, else the newest."""
        wanted = release if self.asked.release is None else self.asked.release
        if wanted not in self._answers:
            self._answers[wanted] = Preflight(wanted, self.asked.hub)
        return self._answers[wanted]

    def _launch(self, launch: Launch) -> LaunchReport:
        preflight = self.preflight(launch.release)
        foreign = self._foreign(preflight, launch)
        if foreign:
            launch = replace(launch, arguments=tuple(word for word in launch.arguments if word not in foreign))
        holes, loose = holes_of(launch.arguments, preflight.knowledge)
        model_flag = preflight.knowledge.roles.get("model", "")
        model_hole = next((hole for hole in holes if hole.flag == model_flag and not hole.chosen), None)
        if model_hole is not None:
            model = self.asked.model or named_last(model_hole.text, preflight)
            if model is None:
                word = launch.arguments[model_hole.index]
                raise InputError(
                    f"the model is {model_hole.text}, which the file does not say",
                    f"{launch.file}:{word.line}:{word.column}",
                    "Give it with --model.",
                )
            holes = tuple(replace(hole, texts=(model,)) if hole is model_hole else hole for hole in holes)
        answers = tried(
            launch.arguments,
            holes,
            loose,
            lambda words: (*self._checked(preflight, launch, words), tuple(words)),
            lambda answer: holds(answer[0]),
        )
        self._expect_model(launch, loose, answers[0][1][0])
        _, (checked, looked_into, platform, words) = next((one for one in answers if holds(one[1][0])), answers[0])
        report = preflight.explained(checked, looked_into, platform, why=self.asked.why, keep=self.asked.keep)
        return LaunchReport(
            launch,
            report,
            _stand_in(checked, looked_into, model_hole),
            (
                *unknown_values(launch, holes, loose, model_flag, [(values, one[0]) for values, one in answers]),
                *unset_variables(launch, preflight.knowledge.environment),
                *unseen_variables(launch),
            ),
            certain_rules([one[0] for _, one in answers]),
            {**checked.facts, **checked.resolution.values} if checked.resolution is not None else None,
            foreign,
            words,
        )

    def _expect_model(self, launch: Launch, loose: Sequence[Word], checked: Checked) -> None:
        """A model that is not named may be among words that cannot be known.

        Raises InputError.
        """
        if loose and checked.refusal is not None and checked.refusal.reason == "missing-required":
            word = loose[0]
            raise InputError(
                f"the model may be in {word.text}, which the file does not say",
                f"{launch.file}:{word.line}:{word.column}",
                "Give it with --model.",
            )

    def _checked(
        self, preflight: Preflight, launch: Launch, words: Sequence[Word]
    ) -> tuple[Checked, str | None, Platform]:
        engine = preflight.engine
        parsed = self._parsed(preflight, launch, words)
        platform = self._platform(preflight, launch, parsed.typed if isinstance(parsed, Parsed) else {})
        if not isinstance(parsed, Parsed):
            return Checked(parsed, {}, None), self.asked.model, platform
        model = self._model(preflight, launch, parsed)
        checked = engine.resolve(model, platform, parsed)
        if (wanted := engine.wanted(checked, platform)) != platform:
            return engine.resolve(model, wanted, parsed), model, wanted
        return checked, model, platform

    def _parsed(self, preflight: Preflight, launch: Launch, words: Sequence[Word]) -> Parsed | Refusal:
        return parse_arguments(
            words,
            preflight.knowledge.flags,
            entry="launch_server" if launch.entry == "worker" else launch.entry,
            needs_model=self.asked.model is None,
            elsewhere=preflight.knowledge.elsewhere,
            folder=Path(launch.file).parent,
        )

    def _foreign(self, preflight: Preflight, launch: Launch) -> tuple[Word, ...]:
        """The words of a launch that its launcher keeps for itself: options that SGLang does not know, with values."""
        if launch.entry != "worker":
            return ()
        words, foreign = list(launch.arguments), []
        for _ in range(len(words)):
            refusal = self._parsed(preflight, launch, [word._replace(open=False) for word in words])
            if not isinstance(refusal, Refusal) or refusal.reason != "unknown-option":
                break
            at = refusal.index
            end = at + 1
            while end < len(words) and not words[end].text.startswith("-"):
                end += 1
            foreign += words[at:end]
            del words[at:end]
        return tuple(foreign)

    def _model(self, preflight: Preflight, launch: Launch, parsed: Parsed) -> str:
        """The checkpoint to look into: the one named, or what stands for a path that is on another machine."""
        named = parsed.model
        if named is None:
            if self.asked.model is None:
                raise InputError("no model is named", launch.file, "Give it with --model.")
            return self.asked.model
        try:
            preflight.engine.model(named)
            return named
        except InputError as fault:
            if self.asked.model is not None:
                return self.asked.model
            alike = same_name(named, preflight)
            if alike is not None:
                return alike
            flag = preflight.knowledge.roles.get("model", "")
            place = parsed.spans.get(flag)
            where = f"{launch.file}:{place.line}:{place.column}" if place else launch.file
            raise InputError(fault.message, where, "Say with --model which model it is.", fault.near) from None

    def _platform(self, preflight: Preflight, launch: Launch, typed: Mapping[str, Value]) -> Platform:
        knowledge = preflight.knowledge
        gpu = self.asked.gpu or hinted(launch.hints, preflight)
        if gpu is None:
            raise InputError(
                "the file does not say which GPU it runs on",
                f"{launch.file}:{launch.at.line}",
                f"Write: preflight check GPU {launch.file}",
            )
        typed_nodes = typed.get(knowledge.roles.get("nodes", ""))
        # More than any cluster has, typed, is for SGLang's own rules to refuse.
        several = typed_nodes if isinstance(typed_nodes, int) and 1 <= typed_nodes <= MAX_NODES else 1
        nodes = launch.nodes or several
        try:
            return platform_of(
                knowledge,
                gpu,
                num_gpus=launch.num_gpus or visible(launch, knowledge.roles),
                nodes=nodes if self.asked.nodes == 1 else self.asked.nodes,
                env=self.asked.env,
                given=launch.env,
                without=self.asked.without,
                cuda=self.asked.cuda,
                memory_gib=self.asked.memory_gib,
            )
        except InputError as fault:
            if fault.where == "num_gpus" or (fault.where == "nodes" and self.asked.nodes == 1):
                line, column = launch.said.get(fault.where, (launch.at.line, launch.at.column))
                where = f"{launch.file}:{line}:{column}"
                raise InputError(fault.message, where, fault.hint, fault.near) from None
            raise

    def _pairs(self, reports: Sequence[LaunchReport]) -> tuple[PairFinding, ...]:
        known = [one for one in reports if one.values is not None]
        if len(known) < 2:
            return ()
        from constraints.pairs import load_pairs  # they are read from YAML, which a single launch goes without

        release = known[0].report.subject.release
        pairs = load_pairs(release)
        sides = {
            side: [one for one in known if evaluate(test, _Known(one.values or {}))]
            for side, test in pairs.sides.items()
        }
        found: list[PairFinding] = []
        for members in itertools.product(*sides.values()):
            scope = {
                f"{side}.{name}": value
                for side, one in zip(sides, members, strict=True)
                for name, value in (one.values or {}).items()
            }
            for rule in pairs.rules:
                env = _Known(scope)
                if rule.require is None or (rule.when is not None and not evaluate(rule.when, env)):
                    continue
                if not evaluate(rule.require, env):
                    read = {name: env[name] for name in sorted(names(rule.require))}
                    together = tuple(zip(sides, members, strict=True))
                    found.append(PairFinding(rule, rule.source(release), together, read))
        return tuple(found)


class _Known(dict[str, Value]):
    """Names of flags that a release lacks are unset."""

    def __missing__(self, name: str) -> Value:
        return None


def _stand_in(checked: Checked, model: str | None, hole: Hole | None) -> str:
    """The checkpoint that was looked into in place of what the file names."""
    if not isinstance(checked.parsed, Parsed) or model is None:
        return ""
    return model if hole is not None or checked.parsed.model not in (None, model) else ""
