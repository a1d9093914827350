"""What became of a file's launches, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from constraints.schema import Rule, Source
from constraints.values import Value

from .intake.launch import Launch
from .intake.parsed import Place
from .intake.tokens import Word
from .report import CheckReport, Finding

ENVIRONMENT = "env."


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file, counted from 1."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that the file leaves to somebody else, as ``text``.

    ``works`` and ``fails`` are the values tried with which the launch holds and does not; both empty where no rule
    reads the flag, or where ``flag`` is "": whole words that cannot be known were left out. A variable of the
    environment is ``env.NAME``, and counts as not set; ``env.`` is whatever a place holds that the file names.
    ``stand_in``: the one value taken where too many are unknown. ``chosen``: the lines of a script that give it a
    value, each only if the script comes there.
    """

    text: str
    spot: Spot
    flag: str = ""
    option: str = ""
    works: tuple[Value, ...] = ()
    fails: tuple[Value, ...] = ()
    stand_in: str = ""
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """A launch and what SGLang does with it: ``report`` for the values of unknown words that serve it best.

    ``model`` is what stands for a path that is not here;
    ``certain``: the rules of findings that hold whatever the unknown values are. ``values``: flags and facts as they
    end. ``foreign``: words that the launcher keeps for itself.
    """

    launch: Launch
    report: CheckReport
    model: str = ""
    unknown: tuple[Unknown, ...] = ()
    certain: frozenset[str] = frozenset()
    values: Mapping[str, Value] | None = None
    foreign: tuple[Word, ...] = ()
    words: tuple[Word, ...] = ()

    @property
    def spot(self) -> Spot:
        """Where the launch stands."""
        return Spot(self.launch.file, self.launch.at.line, self.launch.at.column)

    def places(self, finding: Finding) -> tuple[Spot, ...]:
        """Where a finding comes from, the first typed flag it read first; the launch where none is typed."""
        spans = self.report.spans
        read = [spans[name] for name in finding.reads if name in spans]
        found = [self._spot(place) for place in sorted(read, key=lambda one: one.start)]
        for name in finding.facts:
            at = self.launch.where.get(name.removeprefix("env."))
            if name.startswith("env.") and at is not None:
                found.append(Spot(self.launch.file, *at))
        return tuple(dict.fromkeys(found)) or (self.spot,)

    def places_of(self, flags: Iterable[str]) -> tuple[Spot, ...]:
        """Where these flags are typed; the launch where none is."""
        found = [self._spot(self.report.spans[flag]) for flag in flags if flag in self.report.spans]
        return tuple(found) or (self.spot,)

    def _spot(self, place: Place) -> Spot:
        return Spot(place.origin or self.launch.file, place.line, place.column) if place.line else self.spot


@dataclass(frozen=True, slots=True)
class PairFinding:
    """A rule between two launches that does not hold, with what each side has."""

    rule: Rule
    source: Source | None
    sides: tuple[tuple[str, LaunchReport], ...]
    reads: Mapping[str, Value]

    @property
    def spots(self) -> tuple[Spot, ...]:
        """Where each side types what the rule reads, else the launch."""
        return tuple(
            one.places_of([name.removeprefix(f"{side}.") for name in self.reads if name.startswith(f"{side}.")])[0]
            for side, one in self.sides
        )


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file's launches, and what is wrong between them."""

    file: str
    launches: tuple[LaunchReport, ...]
    pairs: tuple[PairFinding, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every launch holds, for some value of what is unknown, and they fit one another."""
        return all(one.report.holds for one in self.launches) and not any(
            one.rule.kind in ("error", "defect") for one in self.pairs
        )
