"""Fuzzing of every parser: `python tests/fuzz_parsers.py TARGET [SECONDS] [FOLDER]`, guided by coverage (atheris).

A fault is an exception that is no InputError, more than two seconds, or more than 300 MB beside the knowledge. Found
inputs are kept in `test_found_faults.py`. Not run by pytest: it takes as long as it is given.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=[
        "solver.intake",
        "solver.model_input",
        "solver.weights",
        "solver.cli.inputs",
        "solver.cli.cases",
    ]
):
    from constraints import store
    from solver.cli.cases import batch_case, expect_case
    from solver.cli.inputs import pins_of
    from solver.errors import InputError
    from solver.gpu import parse_gpu
    from solver.intake.command import parse_arguments, read_command
    from solver.intake.configfile import config_words
    from solver.intake.decode import decode
    from solver.intake.files import read_launches
    from solver.intake.log import read_log
    from solver.intake.usage import read_usage
    from solver.intake.words import CommandLine
    from solver.model_config import model_facts
    from solver.model_input import ModelInput, read_model
    from solver.weights import stored_weights

from tests.gguf_files import CASES, gguf_case

DATA = Path(__file__).parent / "data"
NEWEST = store.known_releases()[-1]
KNOWLEDGE = store.knowledge_of(NEWEST)
MODELS, CATALOGUE = store.models_of(NEWEST), store.catalogue()
SCRATCH = Path(tempfile.mkdtemp())
NAMES = ("a.sh", "a.yaml", "Dockerfile", "a.service", "a.md", "stdin", "a.json")
MIB = 1 << 20


def file(data: bytes) -> None:
    """A file of any kind: the first byte says by which name."""
    if data:
        read_launches(decode(data[1:], "x"), NAMES[data[0] % len(NAMES)], KNOWLEDGE.flags)


def command(data: bytes) -> None:
    """A command line, as the shell reads it and as SGLang does."""
    found = read_command(decode(data, "x"))
    if isinstance(found, CommandLine):
        parse_arguments(found.arguments, KNOWLEDGE.flags, needs_model=False, elsewhere=KNOWLEDGE.elsewhere)


def settings(data: bytes) -> None:
    """SGLang's --config file, and `--set`."""
    text = decode(data, "x")
    config_words(text, "x", KNOWLEDGE.flags)
    pins_of(text.split("\n")[:5], KNOWLEDGE.flags)


def log(data: bytes) -> None:
    """A log, and a message of argparse."""
    text = data.decode("utf-8", errors="replace")
    read_usage(read_log(text).message or text, KNOWLEDGE.flags, KNOWLEDGE.elsewhere)


def words(data: bytes) -> None:
    """The name of a GPU, and a line of a batch."""
    text = data.decode("utf-8", errors="replace")
    try:
        parse_gpu(text, KNOWLEDGE.gpus)
    except InputError:
        expect_case(batch_case(text))


def config(data: bytes) -> None:
    """A config.json, and the facts it gives."""
    place = SCRATCH / "config.json"
    place.write_bytes(data)
    read = read_model(str(place), CATALOGUE)
    model_facts(ModelInput("x", "x", read.config), MODELS)
    model_facts(ModelInput("x", "x", read.config), MODELS, True)


def gguf(data: bytes) -> None:
    """A GGUF file, and the facts its header gives."""
    place = SCRATCH / "a.gguf"
    place.write_bytes(data)
    read = read_model(str(place), CATALOGUE, MODELS.headers)
    model_facts(ModelInput("x", "x", read.config), MODELS)


def weights(data: bytes) -> None:
    """The header of a safetensors file."""
    (SCRATCH / "model.safetensors").write_bytes(data)
    stored_weights(SCRATCH)


TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one for one in (file, command, settings, log, words, config, gguf, weights)
}


def seeds(target: str) -> list[bytes]:
    """Where fuzzing begins: what the tests know of each kind."""
    if target == "config":
        return [text.encode() for text in CATALOGUE.configs.values()]
    if target == "gguf":
        return [gguf_case(name) for name in CASES]
    if target == "weights":
        return [struct.pack("<Q", 40) + json.dumps({"mlp.experts.0.weight": {"dtype": "F8_E4M3"}}).encode()]
    if target == "log":
        return [one.read_bytes() for one in DATA.glob("*.log")]
    if target == "words":
        return [b"8xB200", b"sm_100", json.dumps({"id": 1, "model": "a", "gpu": "b", "args": ["--tp", "8"]}).encode()]
    files = sorted((DATA / "intake").iterdir())
    if target == "settings":
        return [one.read_bytes() for one in files if one.name.startswith("server-config")]
    if target == "command":
        return [one.read_bytes() for one in files if one.suffix in (".sh", ".txt")]
    kinds = [next((n for n, name in enumerate(NAMES) if name.endswith(one.suffix)), 5) for one in files]
    return [bytes([kind]) + one.read_bytes() for kind, one in zip(kinds, files, strict=True)]


def main() -> None:
    """Fuzz one target for some seconds."""
    target, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "60"
    folder = Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp()) / target
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (folder / "corpus" / f"seed-{number}").write_bytes(seed)
    run = TARGETS[target]

    def one(data: bytes) -> None:
        try:
            run(data)
        except InputError:
            return

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    options = [
        f"-max_total_time={seconds}",
        "-timeout=2",
        f"-rss_limit_mb={used + 300}",
        f"-artifact_prefix={folder}/fault-",
        "-max_len=8192",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(folder / "corpus")], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
