"""A docker compose file -> its launches: `command` and `entrypoint`, `environment`, `image`, reserved GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from .container import Manifest, listed_launches, scalars, script_launches, text_of, words_in
from .expand import expand
from .launch import Launch, launch_from
from .template import is_template
from .words import launch_of
from .yamltree import Node


def is_compose(document: Node) -> bool:
    """Whether a document has services with an image or a command."""
    services = document.get("services")
    return (
        services is not None
        and document.get("apiVersion") is None
        and any(service.get("image") or service.get("command") or service.get("build") for _, service in services.pairs)
    )


def compose_launches(file: str, lines: list[str], document: Node) -> Iterator[Launch]:
    """Every launch of a compose file, service by service.

    Raises InputError.
    """
    manifest = Manifest(file, "compose", lines, lambda text: "$" in text or is_template(text))
    services = document.get("services")
    for name, service in services.entries() if services is not None else ():
        env, where = _environment(service)
        for launch in _service_launches(manifest, service, env):
            image, _ = expand(text_of(service.get("image")), {})
            yield replace(launch, name=name.text, image=image, num_gpus=_gpus(service), where={**launch.where, **where})


def _service_launches(manifest: Manifest, service: Node, env: Mapping[str, str]) -> list[Launch]:
    parts = [node for node in (service.get("entrypoint"), service.get("command")) if node is not None]
    if all(part.kind == "sequence" for part in parts):
        items = [(node, part.flow) for part in parts for node in scalars(part)]
        return listed_launches(manifest, items, env, {})
    if len(parts) == 1:
        return [replace(one, env={**env, **one.env}) for one in script_launches(manifest, parts[0], {})]
    # A text is split into words as a shell would, and the command's follow the entrypoint's.
    words = [word for part in parts for word in words_in(manifest, part)]
    command = launch_of(words, {}, bare=False)
    if command is None:
        return []
    launch = launch_from(command, manifest.kind, manifest.file, {})
    return [replace(launch, env={**env, **command.env})]


def _environment(service: Node) -> tuple[dict[str, str], dict[str, tuple[int, int]]]:
    node = service.get("environment")
    texts: dict[str, str] = {}
    where: dict[str, tuple[int, int]] = {}
    if node is None:
        return texts, where
    for key, value in node.entries():
        text, left = expand(text_of(value), {})
        if not left and value.kind == "scalar":
            texts[key.text], where[key.text] = text, (key.line, key.column)
    for item in scalars(node):
        name, separator, value_text = item.text.partition("=")
        text, left = expand(value_text, {})
        if separator and not left:
            texts[name], where[name] = text, (item.line, item.column)
    return texts, where


def _gpus(service: Node) -> int | None:
    """How many GPUs are reserved; None for all, or when nothing is said."""
    devices = service.get("deploy", "resources", "reservations", "devices")
    for device in devices.items if devices is not None else ():
        count = text_of(device.get("count"))
        if count.isdecimal() and int(count):
            return int(count)
        listed = scalars(device.get("device_ids"))
        if listed:
            return len(listed)
    return None
