"""Compiled knowledge: read from the files once, then from a private folder,
where it stands beside the state of those files.

What reads YAML is imported only when something must be built: a command starts without it.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import pickle
import sys
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

from .knowledge import HOME, Knowledge
from .messages import Printed
from .models_schema import Catalogue, ModelKnowledge
from .uncollected import uncollected

Kept = TypeVar("Kept")


def known_releases() -> tuple[str, ...]:
    """The releases that were read, oldest first.

    Raises KnowledgeError.
    """

    def build() -> tuple[str, ...]:
        from .load import known_releases

        return known_releases()

    return _compiled("releases", build)


def knowledge_of(release: str) -> Knowledge:
    """The knowledge of ``release``; of a release that was not read, the nearest that was.

    Raises KnowledgeError.
    """

    def build() -> Knowledge:
        from .load import load

        return load(release)

    return _compiled(release, build)


def models_of(release: str) -> ModelKnowledge:
    """What ``release`` knows of models.

    Raises KnowledgeError.
    """

    def build() -> ModelKnowledge:
        from .models_load import load_models

        return load_models(release)

    return _compiled(f"models-{release}", build)


def code_of(release: str) -> CodeType:
    """The code that runs the program of `knowledge_of` ``release``.

    Raises KnowledgeError.
    """

    def build() -> bytes:
        from .program_code import program_code

        return marshal.dumps(program_code(knowledge_of(release).program))

    code: CodeType = marshal.loads(_compiled(f"code-{release}", build))
    return code


def catalogue() -> Catalogue:
    """The well-known checkpoints.

    Raises KnowledgeError.
    """

    def build() -> Catalogue:
        from .models_load import load_catalogue

        return load_catalogue()

    return _compiled("catalogue", build)


def messages() -> tuple[Printed, ...]:
    """The words of every refusal of every release.

    Raises KnowledgeError.
    """

    def build() -> tuple[Printed, ...]:
        from .messages_load import load_messages

        return load_messages()

    return _compiled("messages", build)


def _compiled(key: str, build: Callable[[], Kept]) -> Kept:
    """What ``build`` gives, from the store when the files are as they were.

    A store that cannot be written or read is no fault: it is built again.
    """
    place = _folder()
    if place is None:
        _unkept.add(key)
        return build()
    file = place / f"{key}-{_TREE}.pickle"
    # A damaged pickle may raise anything at all.
    with contextlib.suppress(Exception):
        kept: Kept = _read(file)
        return kept
    with uncollected():
        built = build()
    try:
        _write(place, file, built)
        _drop_old(place, key)
    except OSError:
        _unkept.add(key)
    return built


def unkept() -> bool:
    """Whether something was built that could not be kept, so that the next start builds it again."""
    return bool(_unkept)


class _Stale(Exception):
    """What is in the store was made of other files, or is damaged."""


# One file for each tree of knowledge and Python: two that are used in turn do not drop each other's.
_TREE = f"{zlib.crc32(f'{HOME}|{sys.version}'.encode()):08x}"
_KEPT_TREES = 8
_unkept: set[str] = set()


def _read(file: Path) -> Any:
    """What stands in a file behind `_state` and its own checksum.

    Raises _Stale, and whatever a damaged file makes pickle raise.
    """
    with uncollected():
        with file.open("rb") as stream:
            if pickle.load(stream) != _state():
                raise _Stale
            checksum = pickle.load(stream)
            data = stream.read()
        if zlib.crc32(data) != checksum:
            raise _Stale
        kept = pickle.loads(data)
        gc.freeze()
        return kept


@cache
def _state() -> tuple[object, ...]:
    """The tree, and every knowledge file and the code that reads them, by name, size and time of change."""
    found: list[tuple[str, int, int]] = []
    folders = [str(HOME)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.name.endswith((".yaml", ".json", ".py")):
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
    return (sys.version, *sorted(found))


@cache
def _folder() -> Path | None:
    """A folder that nobody else can write to, since a pickle can hold code; None when there is none."""
    try:
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sglang-preflight"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.stat()
    except (OSError, RuntimeError, ValueError):  # not to be written, or nobody's: the user of a container has no home
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return place


def _write(place: Path, file: Path, built: object) -> None:
    import tempfile

    handle, name = tempfile.mkstemp(dir=place)
    with os.fdopen(handle, "wb") as out:
        pickle.dump(_state(), out, protocol=pickle.HIGHEST_PROTOCOL)
        data = pickle.dumps(built, protocol=pickle.HIGHEST_PROTOCOL)
        pickle.dump(zlib.crc32(data), out)
        out.write(data)
    Path(name).replace(file)


def _drop_old(place: Path, key: str) -> None:
    """Keep the newest of what was compiled under one name."""
    found = sorted(place.glob(f"{key}-????????.pickle"), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in found[_KEPT_TREES:]:
        old.unlink(missing_ok=True)
