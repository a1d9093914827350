"""A built wheel holds all knowledge and both console scripts, and nobody else owns our import names."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KNOWLEDGE = ("yaml", "yml", "json", "jsonl", "gz", "txt")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names of the files in a wheel that is built as pip builds it."""
    backend = pytest.importorskip("hatchling.build", reason="pip builds in a place of its own; hatchling is not here")
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    kept = shutil.ignore_patterns("__pycache__", "*.pyc")
    for folder in ("solver", "constraints"):
        shutil.copytree(ROOT / folder, source / folder, ignore=kept)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source / file)
    code = f"import {backend.__name__} as backend; print(backend.build_wheel({str(place)!r}))"
    built = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(place / built.stdout.split()[-1]) as archive:
        return archive.namelist()


def test_a_wheel_holds_all_knowledge(wheel: list[str]) -> None:
    wanted = {
        str(path.relative_to(ROOT))
        for folder in ("solver", "constraints")
        for ending in (*KNOWLEDGE, "py", "typed", "html")
        for path in (ROOT / folder).rglob(f"*.{ending}")
    }
    assert len(wanted) > 200
    assert wanted - set(wheel) == set()


def test_a_wheel_holds_nothing_else(wheel: list[str]) -> None:
    assert {name.split("/")[0] for name in wheel if ".dist-info/" not in name} == {"solver", "constraints"}


def test_settings() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["solver", "constraints"]
    assert set(settings["project"]["scripts"]) == {"preflight", "recommend"}


def test_console_scripts_lead_somewhere() -> None:
    ours = [one for one in entry_points(group="console_scripts") if one.value.startswith("solver.")]
    assert {one.name for one in ours} == {"preflight", "recommend"}
    assert all(callable(one.load()) for one in ours)


def test_no_other_distribution_owns_our_names() -> None:
    owners = packages_distributions()
    for name in ("solver", "constraints"):
        assert set(owners.get(name, ["sglang-preflight"])) == {"sglang-preflight"}


def test_importing_the_api_is_cheap() -> None:
    code = "import sys, solver; print(sorted({'constraints', 'typer', 'networkx', 'yaml'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


def test_a_check_reads_no_yaml_and_draws_no_graph() -> None:
    code = (
        "import sys; from solver.cli.app import run; run(['check', 'H100', '--model', 'Qwen/Qwen3-8B']);"
        "print(sorted({'yaml', 'networkx', 'constraint', 'rich', 'solver.explain'} & set(sys.modules)))"
    )
    ran = [sys.executable, "-c", code]
    subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=True)  # the first writes the store
    shown = subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.strip().splitlines()[-1] == "[]"


def test_no_model_is_read_by_the_reader_of_yaml() -> None:
    code = (
        "import sys; from constraints import store;"
        "list(store.models_of(store.known_releases()[-1]).classes.values()); print('yaml' in sys.modules)"
    )
    ran = [sys.executable, "-c", code]
    subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=True)  # the first writes the store
    shown = subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "False"


def test_every_public_name_is_there() -> None:
    import solver

    assert all(getattr(solver, name) is not None for name in solver.__all__)
    with pytest.raises(AttributeError):
        _ = solver.nothing
