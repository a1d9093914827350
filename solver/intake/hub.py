"""A Hugging Face id -> the folder with its small files: from the local cache, or fetched when that was asked for.

The cache is read by its layout, so it needs no package; fetching needs the extra `hub` (huggingface_hub). Of a
repository only the files in `FILES` are ever fetched, never weights.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from constraints.plainly import plainly

from ..errors import InputError
from .home import put_in

CONFIG = "config.json"
FILES = (CONFIG, "hf_quant_config.json", "quant_model_description.json", "model.safetensors.index.json")
MAIN = "main"
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REVISION = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)
_TRUE = ("1", "on", "yes", "true")
_INSTALL = "Install it: pip install 'sglang-preflight[hub]'"


class Hub(NamedTuple):
    """How checkpoints are looked for: whether they may be ``fetched``, and at which ``revision`` (None: main)."""

    fetched: bool = False
    revision: str | None = None

    def find(self, reference: str) -> Path | None:
        """The folder that holds the checkpoint's config; None for what is no id, or is not there.

        Raises InputError when it was to be fetched and cannot be.
        """
        if not _ID.fullmatch(reference) or ".." in reference:
            return None
        revision = self.revision or MAIN
        if not _REVISION.fullmatch(revision) or ".." in revision:
            raise InputError(f"{revision!r} is no revision", "revision", "Give a branch, a tag or a commit.")
        cached = _cached(reference, revision)
        if cached is not None or not self.fetched:
            return cached
        return _fetched(reference, revision)

    def here(self, reference: str) -> Path | None:
        """The folder in the cache, which nothing is fetched for."""
        try:
            return self._replace(fetched=False).find(reference)
        except InputError:
            return None


def _cached(reference: str, revision: str) -> Path | None:
    """The snapshot of a revision in the cache, if its config is there."""
    repository = _cache() / ("models--" + reference.replace("/", "--"))
    try:
        commit = (
            revision if _COMMIT.fullmatch(revision) else (repository / "refs" / revision).read_text("utf-8").strip()
        )
        folder = repository / "snapshots" / commit
        return folder if _COMMIT.fullmatch(commit) and (folder / CONFIG).is_file() else None
    except (OSError, UnicodeDecodeError, ValueError):
        return None


def _cache() -> Path:
    """Where Hugging Face keeps its files, by the variables it reads itself."""
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if named:
        return Path(put_in(named))
    home = os.environ.get("HF_HOME")
    if home:
        return Path(put_in(home)) / "hub"
    return Path(put_in(os.environ.get("XDG_CACHE_HOME") or "~/.cache")) / "huggingface" / "hub"


def offline() -> str:
    """The environment variable that forbids the network, if one does."""
    known = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return next((name for name in known if os.environ.get(name, "").lower() in _TRUE), "")


def _fetched(reference: str, revision: str) -> Path:
    if name := offline():
        raise InputError(f"{reference} is not in the cache, and {name} forbids to fetch it", "fetch")
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise InputError("fetching needs huggingface_hub, which is not installed", "fetch", _INSTALL) from None
    try:
        folder = Path(hf_hub_download(reference, CONFIG, revision=revision)).parent
        for name in FILES[1:]:
            # The others are taken at the commit of the first: a branch may move meanwhile.
            try:
                hf_hub_download(reference, name, revision=folder.name)
            except LocalEntryNotFoundError:  # a kind of the next, and no answer: the line broke
                raise
            except EntryNotFoundError:
                continue
    except LocalEntryNotFoundError as fault:
        raise _not_fetched(reference, revision, f"the hub cannot be reached: {_first_line(fault)}") from None
    except EntryNotFoundError:
        raise _not_fetched(reference, revision, f"it holds no {CONFIG}") from None
    except HfHubHTTPError as fault:
        code = getattr(getattr(fault, "response", None), "status_code", None)
        said = {401: "it is private or gated, or does not exist", 403: "it is gated", 404: "it does not exist"}
        raise _not_fetched(reference, revision, said.get(code or 0) or _first_line(fault)) from None
    except (OSError, ValueError, TypeError, KeyError) as fault:  # a hub that answers nonsense
        raise _not_fetched(reference, revision, _first_line(fault)) from None
    return folder


def _not_fetched(reference: str, revision: str, why: str) -> InputError:
    return InputError(f"{reference} at {revision} cannot be fetched: {why}", "fetch")


def _first_line(fault: Exception) -> str:
    return plainly(fault).splitlines()[0]
