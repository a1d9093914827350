"""GGUF headers: the config SGLang makes of them, recorded from its own reader; truncated and hostile files."""

from __future__ import annotations

import json
import random
import struct
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from constraints import store
from solver.cli.app import run
from solver.errors import InputError
from solver.gguf_config import gguf_config
from solver.intake.gguf import MAX_FIELDS, read_gguf
from solver.model_config import model_facts
from solver.model_input import read_model
from tests.gguf_files import CASES, gguf_bytes, gguf_case

DATA = Path(__file__).parent / "data"
RECORDED: dict[str, dict[str, Any]] = json.loads((DATA / "gguf_facts.json").read_text(encoding="utf-8"))
RELEASES = ("0.5.23", "0.5.18")
# Ours say more than SGLang's attribute of that name, or in another way.
OTHERWISE = frozenset(
    ("attention_arch", "rope_type", "swa_num_attention_heads", "swa_num_key_value_heads", "moe_intermediate_size")
)


@cache
def headers(release: str) -> Any:
    return store.models_of(release).headers


def listed(value: object) -> object:
    return [listed(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("tied", [False, True], ids=["", "tied"])
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("release", RELEASES)
def test_facts_of_a_header_are_sglang_s(release: str, name: str, tied: bool, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.gguf"
    file.write_bytes(gguf_case(name, tied=tied))
    recorded = RECORDED[f"{release} {name}{'-tied' if tied else ''}"]
    if "error" in recorded:
        with pytest.raises(InputError, match="SGLang") as caught:
            read_model(str(file), store.catalogue(), headers(release))
        assert caught.value.where == str(file)
        assert "config.json beside it" in (caught.value.hint or "")
        return
    read = read_model(str(file), store.catalogue(), headers(release))
    facts = {
        fact.removeprefix("model."): one for fact, one in model_facts(read, store.models_of(release)).values.items()
    }
    wanted = {fact.removeprefix("text."): one for fact, one in recorded.items()}
    assert facts["is_gguf"] is facts["is_gguf_header"] is True
    compared = set(wanted) & set(facts) - OTHERWISE
    assert len(compared) > 10
    assert {fact: listed(facts[fact]) for fact in compared} == {fact: wanted[fact] for fact in compared}


def test_every_recorded_case_is_tested() -> None:
    assert {key.partition(" ")[2].removesuffix("-tied") for key in RECORDED} == set(CASES)


def test_the_other_byte_order_and_version_2_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(gguf_case("qwen3"))
    wanted = gguf_config(read_gguf(file), headers("0.5.23"), "a")
    file.write_bytes(gguf_case("qwen3", order=">"))
    assert gguf_config(read_gguf(file), headers("0.5.23"), "a") == wanted
    whole = gguf_case("qwen3")
    file.write_bytes(whole[:4] + struct.pack("<I", 2) + whole[8:])
    assert gguf_config(read_gguf(file), headers("0.5.23"), "a") == wanted


def test_a_config_beside_it_goes_first(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(gguf_case("deepseek2"))
    config = json.loads(store.catalogue().configs["Qwen3-8B.json"])
    (tmp_path / "config.json").write_text(json.dumps(config))
    read = read_model(str(tmp_path / "m.gguf"), store.catalogue(), headers("0.5.23"))
    assert read.config["hidden_size"] == config["hidden_size"]
    facts = model_facts(read, store.models_of("0.5.23")).values
    assert facts["model.is_gguf"] is True
    assert facts["model.is_gguf_header"] is False


def test_a_file_is_known_by_its_first_bytes_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "weights.bin"
    file.write_bytes(gguf_case("qwen3"))
    assert run(["check", "H100", "--model", str(file), "--format", "json", "--", "--tp", "1"]) == 0
    effective = json.loads(capsys.readouterr().out)["effective"]
    assert effective["quantization"] == effective["load_format"] == "gguf"


# What SGLang said when it was asked (both releases): a relative path fails unless the folder is the current one.
@pytest.mark.parametrize(("path", "good"), [("a.gguf", 0), ("./a.gguf", 0), ("sub/b.gguf", 1), ("./sub/b.gguf", 1)])
@pytest.mark.parametrize("release", RELEASES)
def test_relative_paths(
    release: str,
    path: str,
    good: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.gguf", "sub/b.gguf"):
        (tmp_path / name).write_bytes(gguf_case("llama"))
    words = ["check", "H100", "--release", release, "--no-why", "--", "--model-path", path]
    assert run(words) == good
    assert ("gguf-by-absolute-path" in capsys.readouterr().out) is bool(good)
    assert run([*words[:-1], str(tmp_path / path)]) == 0


@pytest.mark.parametrize("release", RELEASES)
def test_another_parser_is_refused(release: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(gguf_case("llama"))
    words = ["check", "H100", "--release", release, "--no-why", "--", "--model-path", str(file)]
    assert run([*words, "--model-config-parser", "mistral"]) == 1
    assert "gguf-hf-parser" in capsys.readouterr().out


def test_files_cut_off_anywhere_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    whole = gguf_case("llama").rstrip(b"\0")
    for length in (*range(400), *range(400, len(whole) - 40, 997)):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_gguf(file)


def _head(tensors: int, fields: int, rest: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, fields) + rest


def _shaped(key: str, value: object) -> bytes:
    """A file that holds but for one size."""
    sizes = {"context_length": 8192, "block_count": 24, "embedding_length": 2048, "attention.head_count": 32}
    fields = {f"llama.{name}": one for name, one in {**sizes, "feed_forward_length": 4096, key: value}.items()}
    tokens = {"tokenizer.ggml.tokens": [f"t{number}" for number in range(100)]}
    return gguf_bytes({"general.architecture": "llama", **fields, **tokens}, {"token_embd.weight": (2048, 100)})


HUGE = 1 << 62
WRONG_SIZES: list[tuple[str, object]] = [
    ("block_count", 0),
    ("block_count", 2.5),
    ("block_count", "x"),
    ("embedding_length", 0),
    ("attention.head_count", 0),
    ("attention.head_count_kv", 0),
    ("context_length", 0),
    ("context_length", "x"),
]
HOSTILE = {
    "fields": _head(0, HUGE),
    "tensors": _head(HUGE, 0),
    "fields that are empty": _head(0, MAX_FIELDS, b"\0" * 12 * MAX_FIELDS),
    "a long key": _head(0, 1, struct.pack("<Q", HUGE)),
    "a long list": _head(0, 1, struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 8, HUGE)),
    "a long list of numbers": _head(0, 1, struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 0, 1_999_999)),
    "lists of lists": _head(0, 1, struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 9, 1)),
    "an unknown type": _head(0, 1, struct.pack("<Q", 1) + b"a" + struct.pack("<I", 77)),
    "an old version": b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
    "many dimensions": _head(1, 0, struct.pack("<Q", 0) + struct.pack("<I", 1 << 31)),
    "no architecture": gguf_bytes({"general.name": "x"}, {}),
    "an architecture that is a number": gguf_bytes({"general.architecture": 1}, {}),
    "a size that is a text": gguf_bytes({"general.architecture": "llama", "llama.block_count": "x"}, {}),
    "no size at all": gguf_bytes({"general.architecture": "mistral"}, {}),
    **{f"{key} of {value}": _shaped(key, value) for key, value in WRONG_SIZES},
    "nothing": b"",
    "another file": b"PK\3\4" + b"\0" * 100,
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_files_end_in_a_message(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.gguf"
    with file.open("wb") as stream:
        stream.write(HOSTILE[kind])
        if "long list" in kind:  # a hole of zeros: as many empty texts as anybody wants
            stream.truncate(1 << 30)
    begun = time.monotonic()
    code = run(["check", "H100", "--no-why", "--", "--model-path", str(file)])
    assert time.monotonic() - begun < 5
    said = capsys.readouterr()
    if kind == "no size at all":  # SGLang takes the sizes of its class's defaults
        assert code == 0
        return
    assert code == 2, said.out
    assert "a.gguf" in said.err


def test_random_bytes_never_break_the_reader(tmp_path: Path) -> None:
    generator = random.Random(6)
    whole = bytearray(gguf_case("qwen3moe"))
    file = tmp_path / "a.gguf"
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(generator.randint(1, 6)):
            broken[generator.randrange(min(len(broken), 900))] = generator.randrange(256)
        file.write_bytes(broken)
        try:
            read = read_model(str(file), store.catalogue(), headers("0.5.23"))
            model_facts(read, store.models_of("0.5.23"))
        except InputError:
            continue


def test_gguf_files_of_the_hub_are_not_fetched() -> None:
    for reference in ("unsloth/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf", "unsloth/Qwen3-8B-GGUF:Q4_K_M"):
        with pytest.raises(InputError, match="on the Hub"):
            read_model(reference, store.catalogue(), headers("0.5.23"))


def test_a_folder_of_gguf_files_says_which(tmp_path: Path) -> None:
    (tmp_path / "b-Q4.gguf").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        read_model(str(tmp_path), store.catalogue(), headers("0.5.23"))
    assert "b-Q4.gguf" in (caught.value.hint or "")
