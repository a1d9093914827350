"""Ask SGLang about every example of the rules -> `examples-<release>.jsonl.gz`.

    python tests/conformance/record.py --release 0.5.23 --models MODELS --runner "PY oracle.py"

MODELS holds a folder for each file of the catalogue (`Qwen3-8B` for `Qwen3-8B.json`). The runner is called with
``--version RELEASE --in CASES --out RESULTS``. A case is a JSON line {id, model, gpu, num_gpus, args}, models as
folders, and the runner has the environment of the example (with --runner-sets-env the case has it: ``env``); a result
has its id, ``verdict`` (ok or not), and if not ok ``stage``, ``where`` (file:line), ``where_kind``.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from constraints.load import load
from constraints.models_load import load_catalogue
from constraints.schema import Example
from tests.conformance.examples import (
    Environment,
    case_of,
    examples_of,
    file_of,
    key_of,
    read_recorded,
    recorded_from,
    write_recorded,
)


def ask(
    runner: str, release: str, cases: list[dict[str, Any]], environment: Environment = ()
) -> dict[str, dict[str, Any]]:
    """The runner's results by id; it runs with the variables of ``environment``."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "cases.jsonl", Path(folder) / "results.jsonl"
        source.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
        command = [*shlex.split(runner), "--version", release, "--in", str(source), "--out", str(target)]
        subprocess.run(command, check=True, env={**os.environ, **dict(environment)})
        results = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines() if line]
    return {str(result["id"]): result for result in results}


def by_environment(examples: dict[str, Example]) -> dict[Environment, list[str]]:
    """Names of examples by the environment they need: SGLang reads some variables once, when it is imported."""
    found: dict[Environment, list[str]] = {}
    for name, example in examples.items():
        found.setdefault(example.env, []).append(name)
    return found


def main() -> None:
    """Record one release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", required=True)
    parser.add_argument("--models", required=True, type=Path, help="a folder for each file of the catalogue")
    parser.add_argument("--runner", required=True, help="the command that asks SGLang")
    parser.add_argument("--runner-sets-env", action="store_true", help="the runner itself sets a case's `env`")
    parser.add_argument("--all", action="store_true", help="ask again about what is recorded already")
    options = parser.parse_args()
    if not options.models.is_dir():
        parser.error(f"--models {options.models} is no folder")
    catalogue = load_catalogue()
    file = file_of(options.release)
    known = read_recorded(file) if file.exists() and not options.all else {}
    examples = dict(examples_of(load(options.release)))
    new = {name: example for name, example in examples.items() if key_of(example) not in known}
    cases = {name: case_of(name, example, catalogue, options.models.resolve()) for name, example in new.items()}
    missing = sorted({case["model"] for case in cases.values() if not Path(case["model"]).is_dir()})
    if missing:
        parser.error("not below --models: " + ", ".join(missing))
    answers: dict[str, dict[str, Any]] = {}
    groups: dict[Environment, list[str]] = {(): list(new)} if options.runner_sets_env else by_environment(new)
    for environment, names in groups.items():
        answers.update(ask(options.runner, options.release, [cases[name] for name in names], environment))
    if unanswered := sorted(set(new) - set(answers)):
        parser.error(f"the runner did not answer {len(unanswered)} cases, such as {unanswered[0]}")
    kept = [known[key] for one in examples.values() if (key := key_of(one)) in known]
    write_recorded(file, [*kept, *(recorded_from(name, example, answers[name]) for name, example in new.items())])
    print(f"{file.name}: {len(kept)} kept, {len(new)} asked")


if __name__ == "__main__":
    main()
