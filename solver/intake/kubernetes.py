"""Kubernetes manifests -> their launches: every pod template, NVIDIA Dynamo's graphs, leaders with their workers.

A pod is known by its list of containers, wherever it stands, so that new kinds of workload need nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .container import Manifest, listed_launches, scalars, text_of
from .launch import Launch, counted
from .template import is_template
from .tokens import Word
from .yamltree import Node

_LISTS = ("containers", "initContainers")
_MAIN = "mainContainer"
_GPU_KEYS = ("gpu",)  # the last part of nvidia.com/gpu, amd.com/gpu, and Dynamo's own
# What the ConfigMaps of a file set, by their names.
SharedVariables = Mapping[str, Mapping[str, str]]
_REFERENCE = re.compile(r"\$\$|\$\(([^()]*)\)")
# Groups of pods, and the variable in which their controllers say how many they are.
_GROUPS = (("leaderWorkerTemplate", "LWS_GROUP_SIZE"), ("leaderWorkerPattern", "RBG_LWP_GROUP_SIZE"))


@dataclass(frozen=True, slots=True)
class _Above:
    """What stands around a pod: names, environment, resources, and the size of its group."""

    name: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    service: Node | None = None
    nodes: Node | None = None
    shared: SharedVariables = field(default_factory=dict)


class _Environment(NamedTuple):
    """What is set, what is set to something that the file does not say, and where each stands."""

    texts: Mapping[str, str]
    unset: Mapping[str, str]
    where: Mapping[str, tuple[int, int]]
    unseen: tuple[Word, ...] = ()


def is_kubernetes(document: Node) -> bool:
    """Whether a document is a manifest, or holds a pod."""
    return document.get("kind") is not None and (document.get("apiVersion") or document.get("spec")) is not None


def shared_variables(documents: Iterable[Node]) -> SharedVariables:
    """The variables that ConfigMaps among these documents hold, by the names of the ConfigMaps."""
    found: dict[str, dict[str, str]] = {}
    for document in documents:
        listed = document.get("items")
        for one in [document, *(listed.items if listed is not None else ())]:
            data = one.get("data")
            if text_of(one.get("kind")) == "ConfigMap" and data is not None:
                pairs = ((key.text, value) for key, value in data.entries())
                found[text_of(one.get("metadata", "name"))] = {
                    name: value.text for name, value in pairs if value.kind == "scalar" and not is_template(value.text)
                }
    return found


def kubernetes_launches(
    file: str, lines: list[str], document: Node, shared: SharedVariables | None = None
) -> Iterator[Launch]:
    """Every launch of a manifest, pod by pod; ``shared`` are the variables of the file's ConfigMaps.

    Raises InputError.
    """
    manifest = Manifest(file, "kubernetes", lines, lambda text: "$(" in text or is_template(text))
    yield from _walk(manifest, document, _Above(shared=shared or {}), set())


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
    for group, variable in _GROUPS:
        size = text_of(node.get(group, "size"))
        if size:
            above = replace(above, env={**above.env, variable: size})
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
        if _is_container(value):  # other kinds of workload call theirs by names of their own
            yield from _container(manifest, value, node, above)
            continue
        if value.kind == "mapping" and value.get("extraPodSpec") is not None:
            env = {**above.env, **_environment(value, "envs", above).texts}
            inner = replace(above, name=name.text, service=value, env=env, nodes=_nodes(value))
        yield from _walk(manifest, value, inner, seen)


def _is_container(node: Node) -> bool:
    """Whether a mapping is a container: an image with what it runs."""
    if node.kind != "mapping" or not text_of(node.get("image")):
        return False
    return any(part is not None and part.kind == "sequence" for part in (node.get("command"), node.get("args")))


def _container(manifest: Manifest, container: Node, pod: Node, above: _Above) -> Iterator[Launch]:
    own = _environment(container, "env", above)
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
            num_gpus=counted(text_of(gpus)),
            nodes=counted(text_of(above.nodes)),
            said={
                name: (node.line, node.column)
                for name, node in (("num_gpus", gpus), ("nodes", above.nodes))
                if node is not None
            },
            hints=hints,
            where={**launch.where, **own.where},
            unset={**own.unset, **launch.unset},
            unseen=own.unseen,
        )


def _nodes(component: Node) -> Node | None:
    """What says over how many nodes Dynamo spreads a component; it tells the server itself."""
    node = component.get("multinode", "nodeCount")
    return node if counted(text_of(node)) is not None else None


def _environment(container: Node, key: str, above: _Above) -> _Environment:
    """The variables of a list of names and values; each may read those ``above`` and before it."""
    texts: dict[str, str] = {}
    unset: dict[str, str] = {}
    where: dict[str, tuple[int, int]] = {}
    unseen: list[Word] = []
    sources = container.get("envFrom")
    for source in sources.items if sources is not None else ():
        for kind in ("configMapRef", "secretRef"):
            named = source.get(kind, "name")
            if named is None:
                continue
            shared = above.shared.get(named.text) if kind == "configMapRef" else None
            if shared is None:
                what = "ConfigMap" if kind == "configMapRef" else "Secret"
                unseen.append(Word(f"{what} {named.text}", named.line, named.column))
                continue
            prefix = text_of(source.get("prefix"))
            texts |= {prefix + name: text for name, text in shared.items()}
            where |= dict.fromkeys((prefix + name for name in shared), (named.line, named.column))
    listed = container.get(key)
    for item in listed.items if listed is not None else ():
        name, value = text_of(item.get("name")), item.get("value")
        if not name:
            continue
        node = value or item
        where[name] = (node.line, node.column)
        kept = _of_config_map(item, above.shared)
        if value is not None and value.kind == "scalar" and not is_template(value.text):
            texts[name] = _kubelet(value.text, {**above.env, **texts})
        elif kept is not None:
            texts[name] = kept
        else:
            texts.pop(name, None)
            unset[name] = text_of(value) or name
    return _Environment(texts, unset, where, tuple(unseen))


def _of_config_map(item: Node, shared: SharedVariables) -> str | None:
    """The value that a ConfigMap of this file has for a variable."""
    reference = item.get("valueFrom", "configMapKeyRef")
    if reference is None:
        return None
    return shared.get(text_of(reference.get("name")), {}).get(text_of(reference.get("key")))


def _kubelet(text: str, known: Mapping[str, str]) -> str:
    """Variables put in as the kubelet does: what it does not know stays as it stands."""
    return _REFERENCE.sub(lambda found: "$" if found[0] == "$$" else known.get(found[1], found[0]), text)


def _gpus(container: Node) -> Node | None:
    """What says how many GPUs a container gets."""
    for part in ("limits", "requests"):
        resources = container.get("resources", part)
        for key, value in resources.entries() if resources is not None else ():
            if key.text.rpartition("/")[2] in _GPU_KEYS and counted(text_of(value)) is not None:
                return value
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
