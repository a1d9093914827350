"""What a wheel of this project would hold, and who owns its import names."""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_knowledge_lies_inside_the_packages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["solver", "constraints"]
    assert len(list((ROOT / "constraints").rglob("*.yaml"))) > 100
    assert set(settings["project"]["scripts"]) == {"preflight", "recommend"}


def test_no_other_distribution_owns_our_names() -> None:
    owners = packages_distributions()
    for name in ("solver", "constraints"):
        assert set(owners.get(name, ["sglang-preflight"])) == {"sglang-preflight"}
