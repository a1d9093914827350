"""The NVIDIA GPUs of this machine, as its driver tells them, by the extra `here` (nvidia-ml-py)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import InputError

WHERE = "--here"
_NAME = "Name the GPU instead, such as 8xH100."
_INSTALL = "Install it: pip install 'sglang-preflight[here]'. Or name the GPU, such as 8xH100."
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class Found(NamedTuple):
    """GPUs of one kind: how many, the product's name, the capability as ``sm90``, and the memory of each."""

    number: int
    name: str
    capability: str
    memory_mib: int


def gpus_here() -> Found:
    """What the driver tells, of the devices that are visible.

    Raises InputError: no package, no driver, no GPU, or GPUs of several kinds.
    """
    try:
        import pynvml
    except ImportError:
        raise InputError("asking the driver needs nvidia-ml-py, which is not installed", WHERE, _INSTALL) from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as fault:
        raise InputError(f"this machine has no NVIDIA driver that answers: {fault}", WHERE, _NAME) from None
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(place) for place in range(pynvml.nvmlDeviceGetCount())]
        kinds = [_kind(pynvml, handle) for handle in _visible(pynvml, handles)]
    except pynvml.NVMLError as fault:
        raise InputError(f"the driver does not tell its GPUs: {fault}", WHERE, _NAME) from None
    finally:
        pynvml.nvmlShutdown()
    if not kinds:
        hidden = f"{_VISIBLE} hides every GPU" if handles else "this machine has no NVIDIA GPU"
        raise InputError(hidden, WHERE, _NAME)
    if len({kind[:2] for kind in kinds}) > 1:
        names = ", ".join(sorted({kind[0] for kind in kinds}))
        raise InputError(
            f"this machine has several kinds of GPU: {names}", WHERE, f"Choose by {_VISIBLE}, or name one."
        )
    # Equal cards differ by a few MiB; what the smallest has, all have.
    return Found(len(kinds), *kinds[0][:2], min(kind[2] for kind in kinds))


def _visible(nvml: Any, handles: Sequence[Any]) -> list[Any]:
    """The devices that a CUDA program sees: like CUDA, it stops at the first that is not there."""
    listed = os.environ.get(_VISIBLE)
    if listed is None:
        return list(handles)
    seen: list[Any] = []
    for word in (part.strip() for part in listed.split(",")):
        if word.isdecimal() and int(word) < len(handles):
            seen.append(handles[int(word)])
            continue
        named = [
            one for one in handles if word.startswith("GPU-") and _text(nvml.nvmlDeviceGetUUID(one)).startswith(word)
        ]
        if len(named) != 1:
            break
        seen.append(named[0])
    return seen


def _kind(nvml: Any, handle: Any) -> tuple[str, str, int]:
    if _sliced(nvml, handle):
        raise InputError(
            "a GPU of this machine is cut into slices (MIG)", WHERE, f"{_NAME} --gpu-memory says how much a slice has."
        )
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    memory = int(nvml.nvmlDeviceGetMemoryInfo(handle).total) >> 20
    return _text(nvml.nvmlDeviceGetName(handle)), f"sm{major}{minor}", memory


def _sliced(nvml: Any, handle: Any) -> bool:
    try:
        current, _ = nvml.nvmlDeviceGetMigMode(handle)
    except nvml.NVMLError:  # a GPU that cannot be sliced
        return False
    return bool(current)


def _text(value: str | bytes) -> str:
    """Older versions of the package give bytes."""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value
