"""The questions and their answers: recommend, check, explain, resolve; each is the flow on a page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from constraints import store
from constraints.preferences import Profile
from constraints.release import nearest
from constraints.values import Value

from . import expected
from .answering import Answering
from .check import Checked
from .errors import InputError
from .estimate.memory import Memory, memory
from .expected import names, path
from .facts import Platform
from .given import (
    arguments_given,
    aspect_given,
    count_given,
    flag_named,
    kept_given,
    listed,
    model_given,
    values_given,
    workload_given,
)
from .intake.refusal import Refusal
from .place import ASPECTS, MODEL, Place
from .report import CheckReport, Explanation

if TYPE_CHECKING:
    from .answers import Diagnosis, Recommendation, Survey
    from .estimate.roofline import Workload
    from .marginal import Marginals
    from .matrix import Matrix


class Preflight(Answering):
    """Answers for one release. Programs, tables and models read for one answer serve the next.

    ``asked`` is the release asked for; when it was not read, answers are those of the nearest one that was. ``hub``
    says whether checkpoints may be fetched, and at which revision.
    """

    def check(
        self,
        model: str | Path | None,
        platform: Platform | str,
        arguments: Sequence[str] | str,
        folder: Path | str | None = None,
        *,
        why: bool = False,
        keep: Collection[str] = (),
    ) -> CheckReport:
        """What SGLang does with a command; ``why`` adds the conflicts and ways out when it does not hold.

        ``arguments`` are its words, or one text that is split as a shell splits it.

        ``keep`` names flags, and ``gpu num_gpus release model``, that no way out may change.

        Raises InputError.
        """
        model = None if model is None else model_given(model)
        place = None if folder is None else Path(path(folder, "folder", "Give the folder of the launch."))
        platform = self.machine(platform)
        kept = kept_given(keep, self.knowledge.flags)
        checked, platform = self._checked(model, platform, arguments_given(arguments), place)
        return self.explained(checked, model, platform, why=why, keep=kept)

    def explained(
        self, checked: Checked, model: str | None, platform: Platform, *, why: bool, keep: Collection[str] = ()
    ) -> CheckReport:
        """The report of a checked command, with conflicts and ways out where it does not hold."""
        report = self.report(checked, model, platform)
        if why and not report.holds and checked.resolution is not None:
            return report._replace(
                explanation=self._explain(checked.model or "", platform, report.typed, keep, typed=True)
            )
        return report

    def memory(self, report: CheckReport) -> Memory | None:
        """What a checked command needs of each GPU; None where its model's sizes are not known.

        TypeError for what is no report of a check.
        """
        if not isinstance(report, CheckReport):
            raise TypeError(f"{type(report).__name__} is no report of a check")
        values = {
            **report.facts,
            **report.effective,
            **{f"typed.{flag}": value for flag, value in report.typed.items()},
        }
        return memory(self.knowledge.names, values)

    def recommend(
        self,
        model: str | Path,
        platform: Platform | str,
        *,
        profile: Profile | str = "balanced",
        pins: Mapping[str, Value] | None = None,
        top: int = 5,
        workload: Workload | None = None,
        alike: bool = False,
        front: Sequence[str] = (),
    ) -> Recommendation:
        """The best ``top`` configurations and the exact number of all, or why there is none.

        ``workload`` is what the server is for, the profile's own when left out. ``alike`` also gives configurations
        that differ from a better one in nothing that a person chooses by. ``front`` names terms of the profile: then
        the answer is their Pareto front, what no configuration beats in one of them without losing in another.

        Raises InputError; Disagreement when a command does not run as promised, which is a fault of this program.
        """
        # Searching is imported when it is asked for: `check` starts without it.
        from .estimate.roofline import Workload
        from .recommend import Wish, recommended

        model, platform = model_given(model), self.machine(platform)
        chosen = self.profile(profile)
        served = workload_given(Workload(*chosen.workload) if workload is None else workload)
        terms = names(front, "front", 'It reads like ["decode bound", "memory"].')
        wish = Wish(chosen, served, self._pins(pins), count_given(top, "top"), alike, terms)
        found = recommended(self.engine, self.subject(model, platform), model, platform, wish)
        if found.count:
            return found
        why = self._explain(model, platform, wish.pins, (), typed=False)
        # The count is exact. Where the search for reasons was cut off, there are none to tell, and that is said.
        return replace(found, explanation=why._replace(satisfiable=False, complete=False) if why.satisfiable else why)

    def explain(
        self, model: str | Path, platform: Platform | str, pins: Mapping[str, Value], keep: Collection[str] = ()
    ) -> Explanation:
        """Why no configuration has these effective values, and the ways out; satisfiable when some has.

        ``keep`` as in `check`.

        Raises InputError.
        """
        model, platform = model_given(model), self.machine(platform)
        kept = kept_given(keep, self.knowledge.flags)
        return self._explain(model, platform, self._pins(pins), kept, typed=False)

    def explain_command(
        self,
        model: str | Path | None,
        platform: Platform | str,
        arguments: Sequence[str] | str,
        keep: Collection[str] = (),
    ) -> Explanation:
        """Why a command does not hold, and the ways out; ``keep`` as in `check`.

        Raises InputError, also for a command that cannot be parsed.
        """
        model = None if model is None else model_given(model)
        platform = self.machine(platform)
        kept = kept_given(keep, self.knowledge.flags)
        checked, platform = self._checked(model, platform, arguments_given(arguments))
        return self._explain(checked.model or "", platform, _typed(checked), kept, typed=True)

    def which(
        self,
        aspect: str,
        model: str | Path,
        platform: Platform | str,
        *,
        pins: Mapping[str, Value] | None = None,
        arguments: Sequence[str] | str | None = None,
        progress: Callable[[int, int], None] = lambda done, whole: None,
    ) -> Survey:
        """For which GPUs, counts, releases or checkpoints (``gpu num_gpus release model``) a question holds.

        The question is wanted values (``pins``) or a command (``arguments``). Raises InputError.
        """
        from .answers import Survey
        from .proof import Question
        from .survey import survey

        aspect = aspect_given(aspect, "aspect")
        if aspect not in ASPECTS:
            raise InputError(f"{aspect!r} is nothing to compare by", "aspect", "Known: " + ", ".join(ASPECTS))
        model, platform = model_given(model), self.machine(platform)
        wanted = self._pins(pins)
        if arguments is not None:
            checked, platform = self._checked(model, platform, arguments_given(arguments))
            wanted = dict(_typed(checked))
        typed = {flag: value for flag, value in wanted.items() if value is not None}
        question = Question(Place(self.engine, model, platform), typed, {} if arguments is not None else wanted)
        answers = survey(question, aspect, self.world, progress)
        return Survey(self.subject(model, platform), aspect, wanted, answers)

    def matrix(
        self,
        model: str | Path,
        platform: Platform | str | None = None,
        *,
        flag: str | None = None,
        by: str = "gpu",
        values: Sequence[Value] | str = (),
        columns: Sequence[Value] | str = (),
        typed: Mapping[str, Value] | None = None,
        ways: bool = True,
        progress: Callable[[int, int], None] = lambda done, whole: None,
    ) -> Matrix:
        """For which values of a flag and which places a model is served: how, or why not.

        ``by`` is what the columns are: ``gpu num_gpus release model`` or another flag; where they are no GPUs,
        ``platform`` is needed. A machine of no stated number of GPUs has as few as the model needs. ``ways``: look for
        what helps where a value is refused alone.

        Raises InputError.
        """
        from .axes import Asked, gpus
        from .matrix import matrix

        by = aspect_given(by, "by")
        if platform is None and by != "gpu":
            raise InputError("no GPU is named, and the columns are none", "platform", "Such as H100 or 8xH100.")
        flags = self.knowledge.flags
        shown = flag_named(self.knowledge.roles["matrix.flag"] if flag is None else flag, flags)
        axis = by if by in ASPECTS else flag_named(by, flags)
        rows, across = listed(values, shown, flags, "values"), listed(columns, axis, flags, "columns")
        everywhere = values_given({} if typed is None else typed, flags, "typed")
        asked = Asked(shown, axis, rows, across, everywhere, ways)
        model, machine = model_given(model), self.machine(gpus(self.knowledge)[0] if platform is None else platform)
        found = matrix(Place(self.engine, model, machine), asked, self.world, progress)
        inferred = () if axis == MODEL else self.subject(model, machine).inferred
        return found._replace(asked_release=self.asked, inferred=inferred)

    def marginals(
        self, model: str | Path, platform: Platform | str, *, pins: Mapping[str, Value] | None = None
    ) -> Marginals:
        """How many of all configurations that hold type each value of what can be chosen.

        Raises InputError.
        """
        from .marginal import marginals

        model, platform = model_given(model), self.machine(platform)
        return marginals(self.engine, self.subject(model, platform), model, platform, self._pins(pins))

    def diagnose(
        self,
        text: str,
        *,
        model: str | Path | None = None,
        gpu: str | None = None,
        command: str = "",
        why: bool = True,
    ) -> Diagnosis:
        """What failed in a log or traceback, and why; ``model``, ``gpu`` and ``command`` where the log does not say.

        ``why`` adds the conflicts and ways out.

        Raises InputError when it holds no failure, and for a model, a GPU or a command that cannot be.
        """
        from .diagnose import diagnose

        known = {release: store.knowledge_of(release) for release in reversed(store.known_releases())}
        printed = store.messages()
        return diagnose(
            expected.text(text, "the log", "Give the text of a log."),
            printed,
            known,
            self._answering,
            release=self.asked if self._told else "",
            model=None if model is None else model_given(model),
            gpu=None if gpu is None else expected.text(gpu, "gpu", "Write it as 8xH100."),
            command=expected.text(command, "command", "Give a launch, or its flags."),
            why=why,
        )

    def _answering(self, release: str) -> Preflight:
        known = store.known_releases()
        return self if nearest(release, known) == self.release else Preflight(release, self.engine.hub)

    def _pins(self, pins: Mapping[str, Value] | None) -> dict[str, Value]:
        return values_given({} if pins is None else pins, self.knowledge.flags, "pins")


def _typed(checked: Checked) -> Mapping[str, Value]:
    if isinstance(checked.parsed, Refusal):
        raise InputError("the command cannot be parsed: check it first", "arguments")
    return checked.parsed.typed
