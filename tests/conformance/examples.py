"""The examples of the rules -> cases to ask SGLang, and the verdicts it gave -> a compact file, read back."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from constraints.knowledge import Knowledge
from constraints.models_schema import Catalogue
from constraints.schema import Example

HERE = Path(__file__).resolve().parent
# Examples name configs that stand here, made up for lines that no checkpoint of the catalogue reaches, by this prefix.
MADE_UP = "checkpoints/"
_GPU = re.compile(r"(?:(\d+)x)?(.+)")


Environment = tuple[tuple[str, str], ...]
Key = tuple[str, str, str, Environment]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What SGLang said of one example: ``ok`` or ``refused``, where, how (raise, assert, call, argparse), when."""

    id: str
    model: str
    gpu: str
    args: str
    verdict: str
    env: Environment = ()
    where: str = ""
    where_kind: str = ""
    stage: str = ""

    @property
    def key(self) -> Key:
        """The example itself."""
        return self.model, self.gpu, self.args, self.env


def examples_of(knowledge: Knowledge) -> Iterator[tuple[str, Example]]:
    """Each example of the release once, with an id that names the first rule it stands under."""
    seen: set[Key] = set()
    for rule in sorted(knowledge.rules.values(), key=lambda one: one.id):
        for word, group in (("violates", rule.violates), ("satisfies", rule.satisfies)):
            for number, example in enumerate(group):
                if (key := key_of(example)) not in seen:
                    seen.add(key)
                    yield f"{rule.id}/{word}/{number}", example


def key_of(example: Example) -> Key:
    """What tells an example from others: checkpoint, GPUs, words and environment."""
    return example.model, example.gpu, example.args, example.env


def split_gpu(text: str) -> tuple[int, str]:
    """``8xB200`` -> 8, ``B200``; a name alone is one GPU."""
    match = _GPU.fullmatch(text)
    assert match is not None
    return int(match[1] or 1), match[2]


def case_of(name: str, example: Example, catalogue: Catalogue, models: Path) -> dict[str, Any]:
    """What a runner is asked: ids of the catalogue become folders below ``models``, drafts too."""
    number, gpu = split_gpu(example.gpu)
    args = [folder_of(word, catalogue, models) for word in shlex.split(example.args)]
    model = folder_of(example.model, catalogue, models)
    return {"id": name, "model": model, "gpu": gpu, "num_gpus": number, "args": args, "env": dict(example.env)}


def folder_of(word: str, catalogue: Catalogue, models: Path) -> str:
    """The folder of a checkpoint of the catalogue or a made-up one; any other word as it stands."""
    checkpoint = catalogue.names.get(word.lower())
    return located(word) if checkpoint is None else str(models / Path(checkpoint.file).stem)


def located(word: str) -> str:
    """The folder of a made-up checkpoint; any other word as it stands."""
    return str(HERE / word) if word.startswith(MADE_UP) else word


def recorded_from(name: str, example: Example, answer: Mapping[str, Any]) -> Recorded:
    """A runner's answer in our words."""
    if answer["verdict"] == "ok":
        return Recorded(name, example.model, example.gpu, example.args, "ok", example.env)
    stage = str(answer.get("stage") or "")
    return Recorded(
        name,
        example.model,
        example.gpu,
        example.args,
        "refused",
        example.env,
        str(answer.get("where") or "").removeprefix("sglang/"),
        str(answer.get("where_kind") or ""),
        {"argparse": "parse", "attention_factory": "backend-init"}.get(stage, "args"),
    )


def file_of(release: str) -> Path:
    """Where the verdicts of a release lie."""
    return HERE / f"examples-{release}.jsonl.gz"


def write_recorded(path: Path, verdicts: Iterable[Recorded]) -> None:
    """One JSON line each, by id; the same verdicts give the same bytes."""
    lines = [
        json.dumps({key: value for key, value in asdict(one).items() if value}, sort_keys=True)
        for one in sorted(verdicts, key=lambda one: one.id)
    ]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def read_recorded(path: Path) -> dict[Key, Recorded]:
    """The verdicts of a file by example."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [_from_line(json.loads(line)) for line in lines]
    return {one.key: one for one in found}


def _from_line(data: dict[str, Any]) -> Recorded:
    env = tuple((name, text) for name, text in data.pop("env", ()))
    return Recorded(**{"args": "", **data}, env=env)
