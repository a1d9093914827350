"""A docker compose file -> its launches: `command` and `entrypoint`, `environment`, `image`, reserved GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from .container import Manifest, command_launches, listed_launches, scalars, text_of, words_in
from .expand import Fixed, expand, expanded
from .launch import Launch, counted
from .template import is_template
from .tokens import Word
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
        env, unset, where = _environment(service)
        gpus, said = _gpus(service)
        for launch in _service_launches(manifest, service, env):
            image, _ = expand(text_of(service.get("image")), {})
            yield replace(
                launch,
                name=name.text,
                image=image,
                num_gpus=gpus,
                said=said,
                where={**launch.where, **where},
                unset={**unset, **launch.unset},
                unseen=_files(service),
            )


def _service_launches(manifest: Manifest, service: Node, env: Mapping[str, str]) -> list[Launch]:
    parts = [node for node in (service.get("entrypoint"), service.get("command")) if node is not None]
    if all(part.kind == "sequence" for part in parts):
        items = [(node, part.flow) for part in parts for node in scalars(part)]
        return listed_launches(manifest, items, env, {})
    # A text is split into words as a shell would, and the command's follow the entrypoint's.
    words = [word for part in parts for word in words_in(manifest, part)]
    return command_launches(manifest, expanded(words, Fixed({})), env)


def _files(service: Node) -> tuple[Word, ...]:
    """The files with variables that a service names."""
    listed = service.get("env_file")
    found = [listed] if listed is not None and listed.kind == "scalar" else listed.items if listed is not None else []
    named = [node.get("path") if node.kind == "mapping" else node for node in found]
    return tuple(Word(f"the file {node.text}", node.line, node.column) for node in named if node is not None)


def _environment(service: Node) -> tuple[dict[str, str], dict[str, str], dict[str, tuple[int, int]]]:
    """What is set, what is set to something that the file does not say, and where each stands."""
    node = service.get("environment")
    texts: dict[str, str] = {}
    unset: dict[str, str] = {}
    where: dict[str, tuple[int, int]] = {}

    def take(name: str, given: str | None, at: Node) -> None:
        text, left = expand(given, {}) if given is not None else (f"${{{name}}}", True)  # as it is where compose runs
        (unset if left else texts)[name], where[name] = text, (at.line, at.column)

    for key, value in node.entries() if node is not None else ():
        if value.kind == "scalar":
            take(key.text, None if not value.text and not value.style else value.text, key)
    for item in scalars(node) if node is not None and node.kind == "sequence" else ():
        name, equals, text = item.text.partition("=")
        take(name, text if equals else None, item)
    return texts, unset, where


def _gpus(service: Node) -> tuple[int | None, Mapping[str, tuple[int, int]]]:
    """How many GPUs are reserved, None for all, or when nothing is said; and where that stands."""
    devices = service.get("deploy", "resources", "reservations", "devices")
    for device in devices.items if devices is not None else ():
        node = device.get("count")
        number = counted(text_of(node))
        if node is not None and number is not None:
            return number, {"num_gpus": (node.line, node.column)}
        listed = scalars(device.get("device_ids"))
        if listed:
            return len(listed), {"num_gpus": (listed[0].line, listed[0].column)}
    return None, {}
