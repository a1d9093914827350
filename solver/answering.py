"""A release asked for -> what every answer for it stands on: its engine, machines, profiles, subjects and reports."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from constraints import store
from constraints.preferences import Profile
from constraints.release import nearest, release_key
from constraints.uncollected import uncollected
from constraints.values import Value

from .check import Checked, Engine
from .errors import InputError
from .expected import text
from .facts import Platform
from .given import model_given
from .intake.hub import Hub
from .machine import platform_of
from .model_input import NOWHERE
from .near import named
from .notes import environment_notes, notes_of
from .observe import Readings, report_of
from .place import Place, World
from .report import CheckReport, Explanation, Subject


class Answering:
    """What the questions of one release share."""

    def __init__(self, release: str | None = None, hub: Hub = NOWHERE) -> None:
        known = store.known_releases()
        self._told = release is not None
        hint = "Known releases: " + ", ".join(known)
        self.asked = known[-1] if release is None else text(release, "release", hint)
        if not isinstance(hub, Hub):
            raise InputError(f"{hub!r} is no Hub", "hub", "Write Hub(fetched=True).")
        try:
            release_key(self.asked)
        except ValueError as fault:
            raise InputError(str(fault), "release", hint) from None
        self.release = nearest(self.asked, known)
        self.knowledge = store.knowledge_of(self.release)
        self.engine = Engine(
            self.knowledge, store.models_of(self.release), store.catalogue(), hub, store.code_of(self.release)
        )
        self._engines = {self.release: self.engine}
        self._readings = Readings(self.knowledge.program)

    def machine(self, machine: Platform | str) -> Platform:
        """The machine of a GPU text such as ``8xB200``; a `Platform` is one already.

        Raises InputError.
        """
        if isinstance(machine, Platform):
            return machine
        if not isinstance(machine, str):
            raise InputError(f"{machine!r} names no machine", "platform", "Write it as 8xH100.")
        return platform_of(self.knowledge, machine)

    def subject(self, model: str | Path, platform: Platform) -> Subject:
        """What a question is about, for the head of its answer.

        Raises InputError.
        """
        model = model_given(model)
        found = self.engine.model(model)
        return Subject(
            self.release,
            self.asked,
            found.name,
            platform.gpu.name,
            platform.num_gpus,
            platform.nodes,
            (*self.engine.model_facts(model).inferred, *environment_notes(self.knowledge.environment, platform)),
        )

    def profile(self, profile: Profile | str) -> Profile:
        """The profile of a name.

        Raises InputError.
        """
        if isinstance(profile, Profile):
            return profile
        return named(profile, self.knowledge.profiles, "profile", "profile")

    def _checked(
        self, model: str | None, platform: Platform, arguments: Sequence[str] | str, folder: Path | None = None
    ) -> tuple[Checked, Platform]:
        """What SGLang does with a command, on a machine of as many nodes and GPUs as it takes where nobody counted."""
        checked = self.engine.check(model, platform, arguments, folder)
        if (wanted := self.engine.wanted(checked, platform)) != platform:
            return self.engine.check(model, wanted, arguments, folder), wanted
        return checked, platform

    def report(self, checked: Checked, model: str | None, platform: Platform) -> CheckReport:
        """The report of a checked command."""
        reference = checked.model or model
        if reference:
            subject = self.subject(reference, platform)
            notes = notes_of(self.engine, reference, getattr(checked.parsed, "typed", {}))
            subject = subject._replace(inferred=(*subject.inferred, *notes))
        else:
            subject = Subject(self.release, self.asked, "", platform.gpu.name, platform.num_gpus, platform.nodes)
        return report_of(self.engine, checked, subject, self._readings)

    def _explain(
        self, model: str, platform: Platform, pins: Mapping[str, Value], keep: Collection[str], *, typed: bool
    ) -> Explanation:
        from .explain import explain
        from .pins import Asked

        pins = {flag: value for flag, value in pins.items() if flag != self.knowledge.roles.get("model")}
        place = Place(self.engine, model, platform)
        facts = place.facts(pins)
        subject = self.subject(model, platform)
        asked = Asked(subject, place, self.world, self.engine.prepared(facts), frozenset(keep))
        with uncollected():
            return explain(asked, pins, typed=typed)

    @property
    def world(self) -> World:
        """Every release that was read, for questions that look beyond this one."""
        return World(store.known_releases(), self._engine)

    def _engine(self, release: str) -> Engine:
        if release not in self._engines:
            self._engines[release] = Answering(release, self.engine.hub).engine
        return self._engines[release]
