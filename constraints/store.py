"""Compiled knowledge: read from the files once, then from a private folder, keyed by the files' content.

What reads YAML is imported only when something must be built: a command starts without it.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from .knowledge import HOME, Knowledge
from .messages import Printed
from .models_schema import Catalogue, ModelKnowledge

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
        return build()
    file = place / f"{key}-{_fingerprint()}.pickle"
    with contextlib.suppress(OSError, pickle.PickleError, EOFError, AttributeError, ImportError, TypeError, ValueError):
        kept: Kept = _read(file)
        return kept
    built = build()
    with contextlib.suppress(OSError):
        _write(place, file, pickle.dumps(built, protocol=pickle.HIGHEST_PROTOCOL))
        _drop_old(place, key, file)
    return built


def _read(file: Path) -> Any:
    # What is read stays as long as the process: the collector need not walk it, now or later.
    collected = gc.isenabled()
    gc.disable()
    try:
        kept = pickle.loads(file.read_bytes())
        gc.freeze()
        return kept
    finally:
        if collected:
            gc.enable()


@cache
def _fingerprint() -> str:
    """A digest of every knowledge file and of the code that reads them, by name, size and time of change."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(HOME.rglob("*")):
        if path.suffix in (".yaml", ".json", ".py"):
            status = path.stat()
            digest.update(f"{path.relative_to(HOME)}|{status.st_size}|{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


@cache
def _folder() -> Path | None:
    """A folder that nobody else can write to, since a pickle can hold code; None when there is none."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = Path(base) / "sglang-preflight"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return place


def _write(place: Path, file: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=place)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
    Path(name).replace(file)


def _drop_old(place: Path, key: str, kept: Path) -> None:
    for old in place.glob(f"{key}-*.pickle"):
        if old != kept and len(old.name) == len(kept.name):
            old.unlink(missing_ok=True)
