"""Round trips at random: `python tests/round_trips.py [QUESTIONS] [SEED]`: recommend, write in every form, check again.

What is written must be read, hold, and type the same. Prints what does not; the tests run a small sample.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from constraints import store
from solver.cli.launching import FORMS, Configured, written
from solver.cli.options import LaunchFormat
from solver.errors import InputError
from solver.file_check import Asked, FileChecker
from solver.machine import platform_of

NAMES = {LaunchFormat.compose: "compose.yaml", LaunchFormat.kubernetes: "pod.yaml", LaunchFormat.config: "c.yaml"}
# Flags that say what the model is called: a recommendation leaves them to the command. So is a draft that is the model.
NAMED = ("model_path", "served_model_name", "tokenizer_path", "speculative_draft_model_path")
COUNTS = (1, 1, 2, 4, 8, 8)
ENVIRONMENTS: tuple[Mapping[str, str], ...] = ({}, {}, {"SGLANG_USE_AITER": "1"}, {"A": "it's: {x} $y"}, {"YES": "no"})


class Question(NamedTuple):
    """What is asked."""

    model: str
    gpu: str
    release: str
    profile: str
    env: Mapping[str, str]
    nodes: int


def questions(seed: int) -> Iterator[Question]:
    """Models of the catalogue on known GPUs, without end."""
    generator = random.Random(seed)
    models = [one.id for one in store.catalogue().checkpoints if one.draft_of is None]
    while True:
        release = generator.choice(store.known_releases())
        knowledge = store.knowledge_of(release)
        gpus = [one.name for one in knowledge.gpus.values() if not one.generic and one.facts["gpu.vendor"] != "cpu"]
        yield Question(
            generator.choice(models),
            f"{generator.choice(COUNTS)}x{generator.choice(sorted(gpus))}",
            release,
            generator.choice(sorted(knowledge.profiles)),
            generator.choice(ENVIRONMENTS),
            generator.choice((1, 1, 1, 2)),
        )


def faults(asked: Question, top: int = 3) -> tuple[int, list[str]]:
    """How many files were written for a question, and what is wrong with them."""
    checker = FileChecker(Asked(asked.gpu, None, asked.release, why=False, nodes=asked.nodes))
    preflight = checker.preflight(None)
    platform = platform_of(preflight.knowledge, asked.gpu, nodes=asked.nodes, env=asked.env)
    found, files = [], 0
    for one in preflight.recommend(asked.model, platform, profile=asked.profile, top=top).solutions:
        made = Configured(asked.model, one.args, platform.gpu.name, platform.num_gpus, asked.release, one.effective)
        for form in FORMS:
            try:
                text = written(form, [made], preflight, platform, asked.env)
            except InputError as fault:
                if form is not LaunchFormat.config and asked.nodes == 1:
                    found.append(f"{form.value}: cannot be written: {fault.message}")
                continue
            files += 1
            if asked.nodes > 1:
                found.append(f"{form.value}: holds one launch, and {asked.nodes} nodes need as many")
            said = asked.env if form in (LaunchFormat.command, LaunchFormat.config) else {}
            again = checker
            if said:  # what these forms cannot say, the asker does
                again = FileChecker(Asked(asked.gpu, None, asked.release, env=said, why=False, nodes=asked.nodes))
            found += [f"{form.value}: {fault}" for fault in _differences(again, text, form, one.typed, one.effective)]
    return files, found


def _differences(
    checker: FileChecker,
    text: str,
    form: LaunchFormat,
    typed: Mapping[str, object],
    effective: Mapping[str, object],
) -> Iterator[str]:
    try:
        report = checker.check(text, NAMES.get(form, "run.sh"))
    except InputError as fault:
        yield f"is not read: {fault.message}"
        return
    if len(report.launches) != 1:
        yield f"launches {len(report.launches)} servers"
        return
    (launch,) = report.launches
    if not report.holds:
        yield f"does not hold: {[one.rule.id for one in launch.report.findings]} {launch.report.refusal}"
    again = {name: value for name, value in launch.report.typed.items() if name != "model_path"}
    added = {"host"} if form is LaunchFormat.kubernetes else set()  # a pod listens beyond itself
    again = {name: value for name, value in again.items() if name in typed or name not in added}
    if again != dict(typed):
        yield f"types {again}, not {dict(typed)}"
    # What a command says of the machine beside its flags is not its own: the flags must do the same.
    ends = launch.report.effective
    own = {name: value for name, value in effective.items() if name not in NAMED and name not in added}
    other = {name: ends.get(name) for name, value in own.items() if ends.get(name) != value}
    if other and form is not LaunchFormat.docker:
        yield f"runs {other}"


def main() -> None:
    """Ask, and print the faults."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    files = wrong = 0
    for number, asked in zip(range(wanted), questions(seed), strict=False):
        made, found = faults(asked)
        files, wrong = files + made, wrong + len(found)
        for fault in found:
            print(f"{number} {asked.model} {asked.gpu} {asked.release} {asked.profile}: {fault}", flush=True)
    print(f"{wanted} questions, {files} files, {wrong} faults")


if __name__ == "__main__":
    main()
