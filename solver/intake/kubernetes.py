"""Kubernetes manifests -> their launches: every pod template, NVIDIA Dynamo's graphs, leaders with their workers.

A pod is known by its list of containers, wherever it stands, so that new kinds of workload need nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .container import Manifest, listed_launches, scalars, text_of
from .launch import Launch
from .template import is_template
from .yamltree import Node

_LISTS = ("containers", "initContainers")
_MAIN = "mainContainer"
_GPU_KEYS = ("gpu",)  # the last part of nvidia.com/gpu, amd.com/gpu, and Dynamo's own
_REFERENCE = re.compile(r"\$\$|\$\(([^()]*)\)")
_GROUP_SIZE = "LWS_GROUP_SIZE"  # set by the controller of LeaderWorkerSet


@dataclass(frozen=True, slots=True)
class _Above:
    """What stands around a pod: names, environment, resources, and the size of its group."""

    name: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    service: Node | None = None
    nodes: int | None = None


class _Environment(NamedTuple):
    """What is set, what is set to something that the file does not say, and where each stands."""

    texts: Mapping[str, str]
    unset: Mapping[str, str]
    where: Mapping[str, tuple[int, int]]


def is_kubernetes(document: Node) -> bool:
    """Whether a document is a manifest, or holds a pod."""
    return document.get("kind") is not None and (document.get("apiVersion") or document.get("spec")) is not None


def kubernetes_launches(file: str, lines: list[str], document: Node) -> Iterator[Launch]:
    """Every launch of a manifest, pod by pod.

    Raises InputError.
    """
    manifest = Manifest(file, "kubernetes", lines, lambda text: "$(" in text or is_template(text))
    yield from _walk(manifest, document, _Above(), set())


def _walk(manifest: Manifest, node: Node, above: _Above, seen: set[int]) -> Iterator[Launch]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if node.kind == "sequence":
        for item in node.items:
            yield from _walk(manifest, item, above, seen)
        return
    named = text_of(node.get("metadata", "name")) if node.kind == "mapping" else ""
    above = replace(above, name=named or above.name)
    if node.get("podTemplate") is not None or node.get("multinode") is not None:  # a component of Dynamo's
        above = replace(above, name=text_of(node.get("name")) or above.name, nodes=_nodes(node) or above.nodes)
    size = text_of(node.get("leaderWorkerTemplate", "size"))
    if size:
        above = replace(above, env={**above.env, _GROUP_SIZE: size})
    for key in _LISTS:
        containers = node.get(key)
        for container in containers.items if containers is not None else ():
            yield from _container(manifest, container, node, above)
    main = node.get(_MAIN)
    if main is not None and main.kind == "mapping":
        yield from _container(manifest, main, node, above)
    for name, value in node.entries():
        if name.text in (*_LISTS, _MAIN):
            continue
        inner = above
        if value.kind == "mapping" and value.get("extraPodSpec") is not None:
            env = {**above.env, **_environment(value, "envs", above.env).texts}
            inner = replace(above, name=name.text, service=value, env=env, nodes=_nodes(value))
        yield from _walk(manifest, value, inner, seen)


def _container(manifest: Manifest, container: Node, pod: Node, above: _Above) -> Iterator[Launch]:
    own = _environment(container, "env", above.env)
    env = {name: text for name, text in {**above.env, **own.texts}.items() if name not in own.unset}
    items = [
        (node, part.flow)
        for part in (container.get("command"), container.get("args"))
        if part is not None
        for node in scalars(part)
    ]
    service = above.service
    gpus = _gpus(container) or (_gpus(service) if service is not None else None)
    for launch in listed_launches(manifest, items, env, env):
        name = "/".join(part for part in (above.name, text_of(container.get("name"))) if part)
        image = text_of(container.get("image")) or launch.image
        hints = _hints(pod) + (_hints(service) if service is not None else ())
        yield replace(
            launch,
            name=name,
            image=image,
            num_gpus=gpus,
            nodes=above.nodes,
            hints=hints,
            where={**launch.where, **own.where},
            unset={**own.unset, **launch.unset},
        )


def _nodes(component: Node) -> int | None:
    """How many nodes Dynamo spreads a component over; it tells the server itself."""
    text = text_of(component.get("multinode", "nodeCount"))
    return int(text) if text.isdecimal() and int(text) else None


def _environment(container: Node, key: str, above: Mapping[str, str]) -> _Environment:
    """The variables of a list of names and values; each may read those ``above`` and before it."""
    texts: dict[str, str] = {}
    unset: dict[str, str] = {}
    where: dict[str, tuple[int, int]] = {}
    listed = container.get(key)
    for item in listed.items if listed is not None else ():
        name, value = text_of(item.get("name")), item.get("value")
        if not name:
            continue
        node = value or item
        where[name] = (node.line, node.column)
        if value is None or value.kind != "scalar" or is_template(value.text):
            unset[name] = text_of(value) or name
        else:
            texts[name] = _kubelet(value.text, {**above, **texts})
    return _Environment(texts, unset, where)


def _kubelet(text: str, known: Mapping[str, str]) -> str:
    """Variables put in as the kubelet does: what it does not know stays as it stands."""
    return _REFERENCE.sub(lambda found: "$" if found[0] == "$$" else known.get(found[1], found[0]), text)


def _gpus(container: Node) -> int | None:
    for part in ("limits", "requests"):
        resources = container.get("resources", part)
        for key, value in resources.entries() if resources is not None else ():
            text = text_of(value)
            if key.text.rpartition("/")[2] in _GPU_KEYS and text.isdecimal() and int(text):
                return int(text)
    return None


def _hints(pod: Node) -> tuple[str, ...]:
    """Label values that nodes are chosen by."""
    selector = pod.get("nodeSelector")
    found = [text_of(value) for _, value in selector.entries()] if selector is not None else []
    terms = pod.get("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    for term in terms.items if terms is not None else ():
        expressions = term.get("matchExpressions")
        for expression in expressions.items if expressions is not None else ():
            found += [node.text for node in scalars(expression.get("values"))]
    return tuple(text for text in found if text)
