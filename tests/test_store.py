"""Compiled knowledge: a store that is damaged, in the way or made of other files is built again, and says nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from constraints import store

DAMAGES = range(40)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty store of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(store, "_unkept", set())
    store._folder.cache_clear()
    yield tmp_path / "sglang-preflight"
    monkeypatch.undo()
    store._folder.cache_clear()


def compiled(value: str) -> str:
    return store._compiled("things", lambda: value)


def test_what_was_compiled_is_read_again(place: Path) -> None:
    assert compiled("first") == "first"
    assert compiled("second") == "first"


def test_other_files_are_other_knowledge(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled("first")
    monkeypatch.setattr(store, "_state", lambda: ("another", ()))
    assert compiled("second") == "second"


@pytest.mark.parametrize("seed", DAMAGES)
def test_damage_is_mended(place: Path, seed: int) -> None:
    """Cut off, or with some bytes turned, in any part: the state, the checksum or what was compiled."""
    compiled("first" * 50)
    (file,) = place.glob("things-*.pickle")
    data, draw = bytearray(file.read_bytes()), random.Random(seed)
    if seed % 4 == 0:
        del data[draw.randrange(len(data)) :]
    else:
        near_the_end = draw.randrange(1, 300)
        spot = draw.choice([draw.randrange(len(data)), len(data) - near_the_end])
        data[spot] ^= 1 << draw.randrange(8)
    file.write_bytes(bytes(data))
    assert compiled("first" * 50) == "first" * 50


def test_a_folder_of_others_is_left_alone(place: Path) -> None:
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    assert compiled("first") == "first"
    assert compiled("second") == "second"
    assert list(place.iterdir()) == []
    assert store.unkept()
