"""The support matrix: states of cells, columns that are alike, every form, and that docs/matrix.md is not stale."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from constraints.load import known_releases
from solver.api import Preflight
from solver.cli.app import run
from solver.cli.progress import progress
from solver.errors import InputError
from solver.matrix import Cell, Matrix
from solver.render import matrix_data, matrix_html, matrix_text
from solver.render.matrix_table import WORDS, groups
from tests.conformance import support
from tests.conformance.compare import records

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "matrix.md"
DENSE, MLA = "Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3"
# Columns of each table of docs/matrix.md that are computed again.
SAMPLE = 2


@cache
def asked(release: str) -> Preflight:
    return Preflight(release)


@cache
def found() -> Matrix:
    return asked("0.5.23").matrix(MLA, columns=("B200", "H200", "MI300X", "GB10", "A100"))


def cell(matrix: Matrix, column: str, value: str) -> Cell:
    column_ = next(one for one in matrix.columns if one.value == column)
    return next(one for one in column_.cells if one.value == value)


def test_a_cell_that_works() -> None:
    one = cell(found(), "B200", "trtllm_mla")
    assert one.state == "works"
    assert asked("0.5.23").check(MLA, "8xB200", one.args).effective["attention_backend"] == "trtllm_mla"


def test_a_cell_that_is_changed() -> None:
    one = cell(found(), "B200", "tokenspeed_mla")
    assert (one.state, one.effective) == ("changed", "cutedsl_mla")
    assert [hit.rule.id for hit in one.because] == ["alias-attention-backend"]


def test_a_cell_that_is_refused() -> None:
    one = cell(found(), "H200", "trtllm_mla")
    assert one.state == "refused"
    assert one.because[0].rule.id == "trtllm-mla-needs-blackwell"
    assert one.because[0].source is not None


def test_a_cell_that_holds_only_with_another_flag() -> None:
    one = cell(found(), "GB10", "trtllm_mla")
    assert one.state == "only with"
    assert one.fix is not None
    again = asked("0.5.23").check(MLA, "8xGB10", one.fix.args)
    assert again.holds
    assert again.effective["attention_backend"] == "trtllm_mla"


def test_a_cell_with_a_known_defect() -> None:
    assert cell(found(), "B200", "aiter").state == "defect"
    assert cell(found(), "MI300X", "aiter").state == "works"


def test_an_old_name_is_as_the_new_one() -> None:
    assert cell(found(), "B200", "nsa").because[0].rule.id == cell(found(), "B200", "dsa").because[0].rule.id


def test_a_value_that_nothing_would_run_is_no_way_out() -> None:
    # Both phases would pass over the base backend.
    assert cell(found(), "B200", "fa3").state == "refused"


def test_as_few_gpus_as_the_model_needs() -> None:
    counts = {column.gpu: (column.num_gpus, bool(column.blocked)) for column in found().columns}
    assert counts["B200"] == (8, False)
    assert counts["A100"] == (8, True)
    assert asked("0.5.23").matrix(MLA, "4xB200", columns=("B200",), ways=False).columns[0].num_gpus == 4


@pytest.mark.parametrize("by", ["release", "model", "num_gpus", "kv_cache_dtype"])
def test_other_columns(by: str) -> None:
    columns = {"model": (DENSE, MLA), "kv_cache_dtype": ("auto", "fp8_e5m2")}.get(by, ())
    made = asked("0.5.23").matrix(
        MLA, "8xB200", by=by, columns=columns, values=("trtllm_mla", "cutlass_mla", "triton"), ways=False
    )
    states = {(str(column.value), str(one.value)): one.state for column in made.columns for one in column.cells}
    assert len(states) == 3 * len(made.columns) > 3
    expected = {
        "release": {("0.5.18", "cutlass_mla"): "defect", ("0.5.23", "cutlass_mla"): "absent"},
        "model": {(DENSE, "trtllm_mla"): "refused", (MLA, "trtllm_mla"): "works"},
        "num_gpus": {("8", "triton"): "works"},
        "kv_cache_dtype": {("fp8_e5m2", "trtllm_mla"): "refused", ("auto", "trtllm_mla"): "works"},
    }[by]
    assert expected.items() <= states.items()


def test_a_column_says_what_sglang_takes_itself() -> None:
    assert {column.gpu: column.unset for column in found().columns}["B200"] == "trtllm_mla"
    assert "yes*" in matrix_text.text([found()])


def test_columns_that_are_alike_stand_as_one() -> None:
    made = asked("0.5.23").matrix(DENSE, columns=("B200", "GB200", "H100", "H200"), ways=False)
    assert [group.title for group in groups(made.columns)] == ["B200 +1", "H100 +1"]


def test_text_fits_a_terminal() -> None:
    shown = matrix_text.text([found()])
    assert max(map(len, shown.splitlines())) <= 80
    assert "trtllm-mla-needs-blackwell" in shown


def test_data_has_a_line_for_each_cell() -> None:
    rows = list(csv.DictReader(io.StringIO(matrix_data.as_csv([found()]))))
    assert len(rows) == len(found().columns) * len(found().values)
    assert {row["state"] for row in rows} >= {"works", "changed", "only with", "defect", "refused"}
    json.dumps(matrix_data.data([found()]))


def test_the_page_needs_nothing_else() -> None:
    page = matrix_html.page([found()])
    assert len(page) < 3_000_000
    assert not re.search(r"(src|href)=\"(?!data:)|@import|url\(|https?://", page)
    found_data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found_data is not None
    data = json.loads(found_data.group(1))
    assert len(data["columns"]) == len(found().columns)
    cells = [data["cells"][number] for column in data["columns"] for number in column["cells"].values()]
    names = [data["states"][one["s"]]["name"] for one in cells]
    assert names == [one.state for column in found().columns for one in column.cells]
    assert page == matrix_html.page([found()])


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["matrix", DENSE, "--columns", "B200,H100", "--rows", "trtllm_mla,fa3", "--no-ways"]
    assert run(words) == 0
    assert "trtllm_mla" in capsys.readouterr().out
    assert run([*words, "--by", "attention_backend"]) == 2
    assert run([*words, "--out", str(ROOT / "no such folder" / "file")]) == 2
    assert run(["matrix", DENSE, "--flag", "mem-fraction-static"]) == 2


@pytest.mark.parametrize("release", known_releases())
def test_cells_are_those_of_sglang(release: str) -> None:
    recorded = list(records([ROOT / "tests" / "conformance" / f"support-{release}.jsonl.gz"]))
    gpus = tuple(dict.fromkeys(str(one["gpu"]) for one in recorded))
    assert len(recorded) >= 1000
    # A quarter of the GPUs here; `python -m tests.conformance.support` compares all.
    count, different = support.compare(support.matrices(release, gpus[::4]), recorded)
    assert count >= 250
    assert not different


def tables() -> Iterator[tuple[str, str, dict[str, str], dict[str, dict[str, str]]]]:
    """(checkpoint, release, a GPU of each letter, words by letter and value) for each table of the page."""
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        head = re.match(r"--attention-backend by GPU: (\S+), SGLang (\S+)", part)
        if head is None:
            continue
        members = dict(re.findall(r"^- ([A-Z]+): \d+x ([^,;\n]+)", part, re.MULTILINE))
        rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
        letters = [one.strip() for one in rows[0][1:]]
        words: dict[str, dict[str, str]] = {letter: {} for letter in letters}
        for row in rows[2:]:
            for letter, mark in zip(letters, row[1:], strict=True):
                words[letter][row[0].strip(" `")] = mark.split()[0].rstrip("*")
        yield head[1], head[2], members, words


def test_the_page_of_the_docs_is_not_stale() -> None:
    """A sample is computed again: `python docs/generate.py matrix` makes the page."""
    seen = list(tables())
    assert len(seen) == 6
    for model, release, members, words in seen:
        chosen = sorted(members)[:: max(1, len(members) // SAMPLE)]
        made = asked(release).matrix(model, columns=tuple(members[one] for one in chosen), ways=False)
        for letter, column in zip(chosen, made.columns, strict=True):
            for one in column.cells:
                shown = words[letter][str(one.value)]
                if shown == WORDS["only with"]:  # found by a search that is not made here
                    assert one.state in ("refused", "defect")
                else:
                    assert shown == WORDS[one.state], (model, release, column.value, one.value)


def test_the_star_stands_where_the_flag_is_left_out() -> None:
    """Rows of the flag that spreads a model are not typed over by the place."""
    matrix = asked("0.5.23").matrix(DENSE, "8xH100", flag="tp_size", values=(1, 2, 4, 8), columns=("H100",))
    (column,) = matrix.columns
    assert column.unset == 1


@pytest.mark.parametrize("words", [["--by", "count", "--gpu", "H100", "--columns", "abc"]])
def test_columns_that_cannot_be_meant(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", DENSE, *words]) == 2
    assert capsys.readouterr().err.startswith("--columns: ")


def test_named_models_are_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", DENSE, MLA, "--by", "model", "--gpu", "8xB200", "--rows", "triton", "--format", "json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["matrices"]
    assert [column["model"] for column in only["columns"]] == [DENSE, MLA]


def test_a_column_may_say_how_many_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["matrix", DENSE, "--columns", "4xH100,H100,2 x B200", "--rows", "triton,trtllm_mla", "--no-ways"]
    assert run([*words, "--format", "json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["matrices"]
    seen = [(column["value"], column["gpu"], column["num_gpus"]) for column in only["columns"]]
    assert seen == [("4xH100", "H100", 4), ("H100", "H100", 1), ("2xB200", "B200", 2)]
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert "4x H100; 1x H100" in shown
    assert "2x B200" in shown


@pytest.mark.parametrize("by", ["count", "release", "model", "kv-cache-dtype"])
def test_columns_that_are_no_gpus_need_one(by: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", DENSE, "--by", by, "--rows", "triton"]) == 2
    assert capsys.readouterr().err.startswith("--gpu: no GPU is named")
    with pytest.raises(InputError, match="no GPU is named"):
        asked("0.5.23").matrix(DENSE, by="release")


def test_a_long_answer_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter([0.0, 0.5, 2.0, 3.0, 31.0, 40.0, 62.0, 70.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with progress("columns") as show:
        for done in range(1, 8):
            show(done, 7)
    assert capsys.readouterr().err == "columns: 2 of 7 done\ncolumns: 5 of 7 done\n"


def test_a_closed_standard_error_is_not_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        clock = iter([0.0, 5.0])
        patched.setattr(time, "monotonic", lambda: next(clock))
        patched.setattr(sys, "stderr", sys.stdout)
        with progress("columns") as show:
            show(1, 2)
    assert capsys.readouterr().out == ""
