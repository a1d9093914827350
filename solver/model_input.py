"""What a person writes for a model (an id, a folder, a config.json, a GGUF file) -> a checkpoint's config values."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from constraints.models_schema import Catalogue, Checkpoint, GgufHeader
from constraints.plainly import plainly

from .errors import InputError
from .intake.home import put_in
from .intake.hub import CONFIG, Hub
from .near import nearest_names
from .weights import INDEX_FILE, SINGLE_FILE, stored_weights

# A config.json is a few kilobytes; the largest published list every layer of a quantized model.
MAX_BYTES = 20 * 1024 * 1024

QUANTIZATION_FILE = "hf_quant_config.json"
# Its presence alone says how the weights were made.
DESCRIPTION_FILE = "quant_model_description.json"
# What is read of a folder.
_READ = (CONFIG, QUANTIZATION_FILE, DESCRIPTION_FILE, INDEX_FILE, SINGLE_FILE)
NOWHERE = Hub()
# How fetching is asked for on a command line, and by a program.
_FETCH = "--fetch; in Python Hub(fetched=True)"
# SGLang takes OWNER/REPOSITORY/FILE.gguf and OWNER/REPOSITORY:QUANTIZATION for files to download.
_ON_HUB = re.compile(r"[\w.-]+/[\w.-]+(?:/[\w./-]+\.gguf|:[\w.-]+)", re.ASCII)


class ModelInput(NamedTuple):
    """A checkpoint's config values, where they stand, its entry in the catalogue if it has one, and what is unread."""

    name: str
    where: str
    config: Mapping[str, Any]
    checkpoint: Checkpoint | None = None
    notes: tuple[str, ...] = ()


def read_model(
    reference: str,
    catalogue: Catalogue,
    headers: Mapping[str, GgufHeader] = MappingProxyType({}),
    hub: Hub = NOWHERE,
) -> ModelInput:
    """The config values behind an id, a folder, a config.json or a GGUF file, whose ``headers`` a release describes.

    An id is looked up in the catalogue, then by ``hub``; a revision that was asked for is not the catalogue's.

    Raises InputError: unknown, not readable, not JSON, too large, of the wrong shape.
    """
    if not isinstance(reference, str):
        raise InputError(f"{reference!r} names no model", "model", "Write it as a text, a folder as well.")
    reference = reference.strip()
    if not reference:
        raise InputError("No model is named", "model", "Give a Hugging Face id, a folder or a config.json.")
    path = Path(put_in(reference))
    checkpoint = catalogue.names.get(reference.lower().rstrip("/"))
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_file = False
    if is_folder:
        return _folder(path, reference, checkpoint)
    if is_file:
        # The reader of GGUF is imported when a file is named, which few do.
        from .intake.gguf import is_gguf

        if is_gguf(path):
            return _gguf(path, reference, headers, checkpoint)
        if path.name == CONFIG:
            return _folder(path.parent, reference[: -len(CONFIG)].rstrip("/") or str(path.parent), checkpoint)
        config = _parse(_read(path), str(path))
        return ModelInput(reference, str(path), config, checkpoint, (f"SGLang wants a folder in place of {reference}",))
    if checkpoint is not None and hub.revision is None:
        config = _parse(catalogue.configs[checkpoint.file], f"catalogue/{checkpoint.file}")
        return ModelInput(_spelled(reference, checkpoint), f"the catalogue, {checkpoint.id}", config, checkpoint)
    found = hub.find(reference)
    if found is not None:
        return _folder(found, reference, checkpoint)._replace(name=reference)
    if checkpoint is not None:
        raise InputError(
            f"revision {hub.revision} of {checkpoint.id} is not in the cache of Hugging Face",
            "revision",
            f"Let its config.json be fetched ({_FETCH}), or leave the revision out.",
        )
    raise _unknown(reference, catalogue)


# Size and time of last change of each file that says what a checkpoint is; None where there is none.
State = tuple[tuple[int, int] | None, ...]


def state_of(reference: str, catalogue: Catalogue, hub: Hub = NOWHERE) -> State:
    """Another one when the files behind a reference are others: what was read of them is then no longer so."""
    if not isinstance(reference, str):
        return ()
    path = put_in(reference.strip())
    found = _stamp(path)
    if found is not None:
        folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    elif hub.revision is None and reference.strip().lower().rstrip("/") in catalogue.names:
        return ()
    else:
        folder = str(hub.here(reference.strip()) or "")
    beside = (_stamp(os.path.join(folder, name)) for name in ("", *_READ)) if folder else ()
    return (found, *beside)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        known = os.stat(path)
    except (OSError, ValueError):  # a NUL is in no path
        return None
    return known.st_size, known.st_mtime_ns


def _spelled(reference: str, checkpoint: Checkpoint) -> str:
    """The id that was asked for, as its owner writes it: a command must load those weights, not some of their shape.

    An alias without an owner is no id that SGLang could load.
    """
    wanted = reference.lower().rstrip("/")
    return next((one for one in checkpoint.aliases if one.lower() == wanted and "/" in one), checkpoint.id)


def _folder(path: Path, reference: str, checkpoint: Checkpoint | None) -> ModelInput:
    file = path / CONFIG
    if not file.is_file():
        single = next(iter(sorted(path.glob("*.gguf"))), None)
        raise InputError(
            f"The folder {reference} holds no config.json",
            str(path),
            f"Name the file: {single}" if single is not None else "Name a folder with the files of a checkpoint.",
        )
    return _beside(reference, file, checkpoint)


def _gguf(path: Path, reference: str, headers: Mapping[str, GgufHeader], checkpoint: Checkpoint | None) -> ModelInput:
    """A GGUF file: a config.json beside it goes before its header, as in SGLang."""
    from .gguf_config import gguf_config
    from .intake.gguf import read_gguf

    file = path.parent / CONFIG
    if file.is_file():
        found = _beside(reference, file, checkpoint)
        return found._replace(where=str(path), config={**found.config, "gguf": {"beside": True}})
    return ModelInput(reference, str(path), gguf_config(read_gguf(path), headers, str(path)), checkpoint)


def _beside(reference: str, file: Path, checkpoint: Checkpoint | None) -> ModelInput:
    """A config.json with what the files beside it say of quantization.

    What weights say counts only where the config says nothing: SGLang looks at them so for some architectures.
    """
    config, folder = _parse(_read(file), str(file)), file.parent
    quantization = folder / QUANTIZATION_FILE
    if quantization.is_file():
        config["hf_quant_config"] = _parse(_read(quantization), str(quantization))
    if (folder / DESCRIPTION_FILE).is_file():
        config["quant_model_description"] = {}
    weights = stored_weights(folder)
    if config.get("quantization_config") is None and weights.experts is not None:
        config["weights"] = {"experts": weights.experts}
    notes = (f"{weights.unread}: what is said of weights rests on {CONFIG} alone",) if weights.unread else ()
    return ModelInput(reference, str(file), config, checkpoint, notes)


def _read(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{path} has {size >> 20} MB, more than the {MAX_BYTES >> 20} MB a config can have",
                str(path),
                "Name the config.json of the checkpoint, not its weights.",
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file", str(path), "Name the config.json of the checkpoint.") from None
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {plainly(fault)}", str(path), "Check its permissions.") from None


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as fault:
        raise InputError(f"Not JSON: {plainly(fault)}", where, "Fetch the file again; it may be cut off.") from None
    except (RecursionError, ValueError) as fault:
        raise InputError(f"Not usable JSON: {plainly(fault)}", where, "Fetch the file again.") from None
    if not isinstance(data, dict):
        raise InputError(f"A JSON {_kind(data)}, where an object is needed", where, "Name a checkpoint's config.json.")
    architectures = data.get("architectures")
    if architectures is not None and not (
        isinstance(architectures, list) and all(isinstance(name, str) for name in architectures)
    ):
        raise InputError('"architectures" is not a list of names', where, 'It reads like "architectures": ["..."].')
    if not isinstance(data.get("model_type"), (str, type(None))):
        raise InputError('"model_type" is not a text', where, 'It reads like "model_type": "...".')
    return data


def _kind(data: object) -> str:
    return {list: "list", str: "text", bool: "truth value", type(None): "null"}.get(type(data), "number")


def _folders_like(reference: str) -> tuple[str, ...]:
    """The folder of a checkpoint beside the one that is named, whose name is nearest."""
    try:
        beside = sorted(str(file.parent) for file in Path(reference).parent.glob("*/config.json"))
    except (OSError, ValueError):  # what is no path has nothing beside it
        return ()
    return nearest_names(str(Path(reference)), beside, 1, 0.6)


def _unknown(reference: str, catalogue: Catalogue) -> InputError:
    if _ON_HUB.fullmatch(reference):
        return InputError(
            f"{reference} is a GGUF file on the Hub, which holds its configuration", "model", "Name a download of it."
        )
    if reference.startswith((".", "/", "~")) or reference.endswith(".json"):
        near = _folders_like(reference)
        return InputError(f"There is no file or folder {reference}", "model", "Check the path.", near)
    names = {name: checkpoint.id for name, checkpoint in catalogue.names.items()}
    short = {name.rpartition("/")[2]: found for name, found in names.items()}
    wanted = reference.lower()
    close = nearest_names(wanted, list(names), 3, 0.6) + nearest_names(wanted.rpartition("/")[2], list(short), 3, 0.6)
    stem = wanted.rpartition("/")[2]
    close = (*(name for name in short if name.startswith(stem) or stem.startswith(name + "-")), *close)
    checkpoints = ({**short, **names}[name] for name in close)
    near = tuple(dict.fromkeys((*_folders_like(reference), *checkpoints)))[:3]
    meant = f"Did you mean {near[0]}? " if near else ""
    return InputError(
        f"{reference} is not in the catalogue, nor in the cache of Hugging Face",
        "model",
        f"{meant}For another checkpoint, name the folder or config.json of a download, or have it fetched ({_FETCH}).",
        near,
    )
