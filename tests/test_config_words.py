"""What is wrong in a file of SGLang's options is told at its key and in its words, however SGLang is given the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from constraints import store
from solver.api import Preflight
from solver.cli.app import run
from solver.errors import InputError

COMMAND = "#!/bin/sh\n\n\npython3 -m sglang.launch_server --model-path Qwen/Qwen3-8B \\\n  --config a.yaml\n"
WRONG = [
    ("tp-size: many", "2:10", "'many' is no value for tp-size: it wants a whole number"),
    ("tp_size: 2", "2:1", "has no option tp_size Did you mean tp-size or"),
    ("attention-backend: foo", "2:20", "'foo' is no value of attention-backend; it takes triton"),
    ("enable-metrics: maybe", "2:17", "enable-metrics does not take the value 'maybe' Write one value; of a switch"),
    ("attention-backnd: fa3", "2:1", "has no option attention-backnd Did you mean attention-backend or"),
    ("tp-size: [1, 2]", "2:10", "tp-size does not take the value '2'"),
    ("tp-size: 3", "2:1", "Query heads divide by the ranks of attention"),
]


@pytest.mark.parametrize(("line", "place", "said"), WRONG)
def test_a_bad_value_is_told_at_its_key(
    line: str,
    place: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.yaml").write_text(f"port: 8000\n{line}\nmodel-path: Qwen/Qwen3-8B\n")
    (tmp_path / "run.sh").write_text(COMMAND)
    monkeypatch.chdir(tmp_path)
    for words in (["a.yaml"], ["run.sh"], ["--model", "Qwen/Qwen3-8B", "--", "--config", "a.yaml"]):
        assert run(["check", "H100", "--no-why", *words]) == 1
        told = " ".join(capsys.readouterr().out.split())
        assert f"at a.yaml:{place} " in told
        assert said in told
        assert "--" not in told.partition("at a.yaml")[2].partition("[")[0].partition("here:")[0]


def test_a_file_is_named_as_it_is_seen_from_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text("port: 8000\ntp-size: many\n")
    (tmp_path / "run.sh").write_text(COMMAND)
    assert run(["check", "H100", str(tmp_path / "run.sh"), "--quiet"]) == 1
    assert capsys.readouterr().out.startswith(f"{tmp_path}/a.yaml:2:10: error: 'many' is no value for tp-size")


def test_what_a_model_cannot_be_is_told_where_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("""json-model-override-args: '{"hidden_size": -1}'\n""")
    for words, where in (
        (["--config", str(file)], f"{file}:1:1"),
        (["--json-model-override-args", '{"hidden_size": -1}'], "--json-model-override-args"),
    ):
        with pytest.raises(InputError, match="hidden_size is -1") as fault:
            Preflight("0.5.23").check("Qwen/Qwen3-8B", "H100", words)
        assert fault.value.where == where


def test_a_key_that_a_file_cannot_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message was a code of ours, and said that an option was none."""
    file = tmp_path / "a.yaml"
    file.write_text("model-path: Qwen/Qwen3-8B\nlora-paths: [a]\n")
    assert run(["check", "H100", str(file)]) == 2
    assert capsys.readouterr().err == (
        f"{file}:2:1: SGLang does not take the key lora-paths in a file\n"
        "Give --lora-paths on the command line, beside --config.\n"
    )
    assert run(["check", "H100", "--model", "Qwen/Qwen3-8B", "--", "--config", str(file)]) == 1
    assert "a key that SGLang does not take there: lora-paths" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["x" * 5000 + ".yaml", "a\0.yaml", "\ud800.yaml"])
def test_a_name_that_no_file_has(name: str) -> None:
    refusal = Preflight("0.5.23").check("Qwen/Qwen3-8B", "H100", ["--config", name]).refusal
    assert refusal is not None
    assert refusal.reason in ("config-unreadable", "config-not-found")


@pytest.mark.parametrize("shard", ["x" * 5000, "a\\u0000b", "\\ud800"])
def test_an_index_of_weights_that_names_no_file(shard: str, tmp_path: Path) -> None:
    catalogue = store.catalogue()
    (tmp_path / "config.json").write_text(catalogue.configs[catalogue.names["qwen/qwen3-8b"].file])
    (tmp_path / "model.safetensors.index.json").write_text(f'{{"weight_map": {{"experts.weight": "{shard}"}}}}')
    assert Preflight("0.5.23").check(tmp_path, "H100", []).holds
