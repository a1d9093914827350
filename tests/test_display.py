"""Answers as people meet them in Python: text, rows, tables of a notebook, pictures; and exact marginals."""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from solver import InputError, Marginals, Preflight, Recommendation, plot, show, to_frame
from solver.cli.app import run
from solver.display import register
from solver.render.rows import rows

DENSE = "Qwen/Qwen3-8B"


@cache
def preflight() -> Preflight:
    return Preflight("0.5.23")


@cache
def recommended() -> Recommendation:
    return preflight().recommend(DENSE, "H100", top=2)


@cache
def shares() -> Marginals:
    return preflight().marginals(DENSE, "H100")


def answers() -> list[object]:
    one = preflight()
    return [
        recommended(),
        one.check(DENSE, "H200", ["--attention-backend", "trtllm_mla"]),
        one.explain(DENSE, "H200", {"attention_backend": "trtllm_mla"}),
        one.which("num_gpus", DENSE, "8xH200", arguments=["--tp", "4"]),
        one.matrix(DENSE, columns=("H100", "B200"), values=("fa3", "triton"), ways=False),
        shares(),
    ]


def test_every_answer_can_be_shown() -> None:
    for answer in answers():
        shown = show(answer)
        assert str(shown).endswith("\n")
        assert max(map(len, shown.splitlines())) <= 100
        assert shown._repr_html_().startswith("<")
        assert shown._repr_markdown_()
        assert rows(answer)


def test_what_is_shown_is_escaped() -> None:
    found = preflight().check(DENSE, "H100", ["--served-model-name", "<script>"])
    assert "<script>" not in show(found)._repr_html_()


def test_what_is_no_answer() -> None:
    for made in (show, rows, plot):
        with pytest.raises(TypeError):
            made(3)


def test_a_notebook_displays_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, list[tuple[str, str]]] = {}

    class Formatter:
        def __init__(self, form: str) -> None:
            self.form = form

        def for_type_by_name(self, module: str, name: str, made: object) -> None:
            told.setdefault(self.form, []).append((module, name))

    forms = {form: Formatter(form) for form in ("text/html", "text/markdown", "text/plain")}
    shell = types.SimpleNamespace(display_formatter=types.SimpleNamespace(formatters=forms))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    register()
    assert set(told) == set(forms)
    assert all(("solver.answers", "Recommendation") in names for names in told.values())


def test_marginals_are_exact() -> None:
    found = shares()
    assert found.count == recommended().count
    assert all(sum(values.values()) == found.count for values in found.choices.values())
    only = preflight().marginals(DENSE, "H100", pins={"kv_cache_dtype": "fp8_e4m3"})
    assert only.choices["kv_cache_dtype"] == {"fp8_e4m3": only.count}


def test_rows_are_a_frame() -> None:
    pandas = pytest.importorskip("pandas", reason="the extra `notebook` is not installed")
    frame = to_frame(recommended())
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["rank"]) == [1, 2]


def test_a_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pandas is not installed"):
        to_frame(recommended())


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_pictures(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    drawn = [recommended(), preflight().explain(DENSE, "H200", {"attention_backend": "trtllm_mla"}), shares()]
    for answer in drawn:
        first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
        plot(answer).save(first)
        plot(answer).save(second)
        assert first.read_bytes() == second.read_bytes()
    assert plot(recommended(), "terms").figure is not None
    with pytest.raises(InputError):
        plot(recommended(), "speed")
    with pytest.raises(InputError):
        plot(recommended()).save(tmp_path / "picture.gif")


def test_a_front() -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    terms = ({"speed": 1, "room": 5}, {"speed": 3, "room": 2}, {"speed": 1, "room": 1})
    first = recommended().solutions[0]
    found = replace(
        recommended(), solutions=tuple(first._replace(rank=rank, terms=one) for rank, one in enumerate(terms, 1))
    )
    axes = plot(found, "pareto").figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("room, points", "speed, points")
    line = next(one for one in axes.lines if one.get_label() == "front")
    assert list(zip(line.get_xdata(), line.get_ydata(), strict=True)) == [(2, 3), (5, 1)]
    with pytest.raises(InputError, match="do not differ"):
        plot(replace(found, solutions=found.solutions[:1]), "pareto")


def test_the_command_line_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    file = tmp_path / "why.svg"
    words = ["explain", DENSE, "H200", "--set", "attention_backend=trtllm_mla", "--plot", str(file)]
    assert run(words) == 1
    assert "Blackwell" in file.read_text(encoding="utf-8")
    assert "Blackwell" in capsys.readouterr().out
