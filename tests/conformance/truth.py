"""Recordings and sources of SGLang -> `docs/truth.md`: how far our answers are SGLang's.

    python -m tests.conformance.truth --records DIR... --models MODELS --sources 0.5.23=TREE --sources 0.5.18=TREE

Each DIR holds files `<set>-<release>.jsonl.gz` as `ask.py` writes them; `tests/conformance` itself is always read
(the sample of CI, examples, refusals of the parser, the matrix of SGLang's documentation). MODELS holds a folder for
each checkpoint. Same input, same bytes out.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from constraints.load import known_releases
from constraints.provenance import Reach, coverage, load_excused, package_of
from solver.check import Engine
from tests.conformance import claims, corpus, documentation, render_truth, traces, unseen
from tests.conformance.compare import records
from tests.conformance.engines import engine_of, knowledge_of
from tests.conformance.examples import file_of, read_recorded
from tests.conformance.figures import Figures, count
from tests.conformance.recall import Recall, case_of_example, recall

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "docs" / "truth.md"
TRACE, DOCUMENTATION, REFUSALS, CORPUS, UNSEEN = "trace", "documentation", "refusals", "corpus", "unseen"
_APART = (CORPUS, "examples", TRACE, DOCUMENTATION, UNSEEN)


@dataclass(slots=True)
class Truth:
    """Everything that was measured for one release."""

    release: str
    sets: dict[str, Figures] = field(default_factory=dict)
    recall: Recall | None = None
    traces: tuple[int, int] = (0, 0)
    trace_differences: list[str] = field(default_factory=list)
    reach: list[Reach] = field(default_factory=list)
    contradictions: list[tuple[str, str, str, str]] = field(default_factory=list)
    claims: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def whole(self) -> Figures:
        """All sets together, the parser's refusals left out."""
        found = Figures()
        for name, one in self.sets.items():
            if name != REFUSALS:
                found.tally.update(one.tally)
                found.differences += one.differences
        return found


def sets_of(folders: list[Path], release: str) -> Iterator[tuple[str, Path]]:
    """Each recorded set of a release by name."""
    suffix = f"-{release}.jsonl.gz"
    for folder in folders:
        for path in sorted(folder.glob(f"*{suffix}")):
            yield path.name.removesuffix(suffix), path


def measure(release: str, folders: list[Path], models: Path, tree: Path | None) -> Truth:
    """Every figure of a release."""
    engine, found = engine_of(release), Truth(release)
    cited: list[tuple[dict[str, Any], Path | None]] = [(one, None) for one in examples(release)]
    for name, path in sets_of([HERE, *folders], release):
        if name == TRACE:
            _traces(found, engine, path, models)
        elif name == DOCUMENTATION:
            found.contradictions = list(documentation.contradictions(records([path])))
        elif name == CORPUS:
            cases = corpus.read(path)
            found.sets["sample of CI"] = count(engine, cases, None)
            cited += [(case, None) for case in cases]
        elif name == UNSEEN:
            with TemporaryDirectory() as folder:
                found.sets["unseen checkpoints"] = count(engine, unseen.unpack(path, Path(folder)), Path(folder))
        if name not in _APART:
            cases = list(records([path]))
            found.sets[name] = count(engine, cases, models)
            cited += [(case, models) for case in cases]
    found.claims = list(claims.contradictions(release))
    found.recall = _recall(engine, cited)
    if tree is not None:
        found.reach = coverage(knowledge_of(release), package_of(tree), load_excused(release))
    return found


def examples(release: str) -> list[dict[str, Any]]:
    """The recorded examples of the rules as commands."""
    recorded = read_recorded(file_of(release)).values()
    return [dict(case_of_example(one, shlex.split(one.args))) for one in recorded]


def _recall(engine: Engine, cited: list[tuple[dict[str, Any], Path | None]]) -> Recall:
    found = recall(engine, (case for case, models in cited if models is None), None)
    for models in {models for _, models in cited if models is not None}:
        more = recall(engine, (case for case, folder in cited if folder == models), models)
        found.seen.update(more.seen)
        found.cited.update(more.cited)
    return found


def _traces(found: Truth, engine: Engine, path: Path, models: Path) -> None:
    tally, found.trace_differences = traces.compare(engine, records([path]), models)
    found.traces = tally["equal"], tally["cases"]


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--records", nargs="*", type=Path, default=[])
    parser.add_argument("--models", required=True, type=Path)
    parser.add_argument("--sources", action="append", default=[], metavar="RELEASE=TREE")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    trees = {release: Path(tree) for release, _, tree in (one.partition("=") for one in options.sources)}
    found = [
        measure(release, options.records, options.models, trees.get(release)) for release in reversed(known_releases())
    ]
    options.out.write_text(render_truth.report(found), encoding="utf-8")


if __name__ == "__main__":
    main()
