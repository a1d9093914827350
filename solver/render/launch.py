"""A configuration that holds -> what runs it: a command, docker, compose, Kubernetes, SGLang's --config file.

Every text is read again by `solver.intake` in the tests, and must launch what it was made of.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from constraints.schema import Action, Flags
from constraints.values import Value

_MODULE = ("python3", "-m", "sglang.launch_server")
_PLAIN = re.compile(r"[A-Za-z0-9_./-]*[A-Za-z_/][A-Za-z0-9_./-]*", re.ASCII)
_CACHE = "~/.cache/huggingface:/root/.cache/huggingface"
_KEYWORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


class Mount(NamedTuple):
    """A folder of this machine that a launch reads, or a ``lone`` file, by its full path."""

    path: str
    lone: bool = False


class Box(NamedTuple):
    """What a launch is put into: names by what they are for, the release, and the machine's size and GPU.

    ``mounts`` stand inside where they stand outside.
    """

    roles: Mapping[str, str]
    release: str
    vendor: str
    product: str
    num_gpus: int
    nodes: int = 1
    env: Mapping[str, str] = {}
    mounts: tuple[Mount, ...] = ()

    def role(self, name: str) -> str:
        """What this vendor's machines have in a role."""
        return self.roles.get(f"{name}.{self.vendor}", self.roles.get(name, ""))

    @property
    def image(self) -> str:
        """The image of the release for this vendor."""
        return self.role("image").format(release=self.release)


def pretty(words: Sequence[str], module: Sequence[str] = ("python", "-m", "sglang.launch_server")) -> str:
    """A launch command, a line for each option."""
    rows = [" ".join(module)]
    for word in words:
        if word.startswith("--"):
            rows.append(shlex.quote(word))
        else:
            rows[-1] += " " + shlex.quote(word)
    return " \\\n  ".join(rows)


def docker(words: Sequence[str], box: Box) -> str:
    """A `docker run` command."""
    rows = ["docker run --rm --ipc=host --network=host"]
    if box.vendor == "amd":
        rows += ["--device /dev/kfd", "--device /dev/dri"]
    else:
        rows.append(f"--gpus {box.num_gpus}")
    rows.append(f"-v {_CACHE}")
    rows += [shlex.join(_bound(one.path)) for one in box.mounts]
    rows += [f"-e {shlex.quote(f'{name}={value}')}" for name, value in sorted(box.env.items())]
    rows.append(box.image)
    return " \\\n  ".join([*rows, *pretty(words, _MODULE).split(" \\\n  ")])


def _bound(path: str) -> tuple[str, str]:
    """The words that show a path to a container, read-only."""
    if ":" in path:  # -v would end the path there
        return "--mount", f"type=bind,source={path},target={path},readonly"
    return "-v", f"{path}:{path}:ro"


def compose(words: Sequence[str], box: Box) -> str:
    """A compose file of one service."""
    rows = ["services:", "  sglang:", f"    image: {box.image}", "    ipc: host", "    network_mode: host"]
    if box.env:
        rows.append("    environment:")
        rows += [f"      {quoted(name)}: {quoted(value, dollar=True)}" for name, value in sorted(box.env.items())]
    rows += ["    volumes:", f"      - {_CACHE}"]
    for one in box.mounts:
        at = quoted(one.path, dollar=True)
        rows += ["      - type: bind", f"        source: {at}", f"        target: {at}", "        read_only: true"]
    rows.append("    command:")
    rows += [f"      - {quoted(word, dollar=True)}" for word in (*_MODULE, *words)]
    if box.vendor == "amd":
        rows += ["    devices:", "      - /dev/kfd:/dev/kfd", "      - /dev/dri:/dev/dri"]
    else:
        rows += [
            "    deploy:",
            "      resources:",
            "        reservations:",
            "          devices:",
            "            - driver: nvidia",
            f"              count: {box.num_gpus}",
            "              capabilities: [gpu]",
        ]
    return "\n".join(rows) + "\n"


def kubernetes(words: Sequence[str], box: Box) -> str:
    """A Deployment of one pod."""
    # The kubelet puts variables into $(NAME): a doubled sign keeps the text.
    safe = [word.replace("$(", "$$(") for word in (*_MODULE, *words)]
    rows = [
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata:",
        "  name: sglang",
        "spec:",
        "  replicas: 1",
        "  selector:",
        "    matchLabels: {app: sglang}",
        "  template:",
        "    metadata:",
        "      labels: {app: sglang}",
        "    spec:",
    ]
    if box.product:
        rows += ["      nodeSelector:", f"        {box.role('product_label')}: {quoted(_label(box.product))}"]
    rows += ["      containers:", "        - name: sglang", f"          image: {box.image}"]
    if box.env:
        rows.append("          env:")
        for name, value in sorted(box.env.items()):
            rows += [f"            - name: {quoted(name)}", f"              value: {json.dumps(value)}"]
    rows.append("          command:")
    rows += [f"            - {quoted(word)}" for word in safe]
    rows += [
        "          resources:",
        "            limits:",
        f"              {box.role('resource')}: {box.num_gpus}",
        "          volumeMounts:",
        "            - {name: shm, mountPath: /dev/shm}",
    ]
    named = [(f"files-{number}", quoted(one.path), one.lone) for number, one in enumerate(box.mounts, 1)]
    for name, at, _ in named:
        rows += [f"            - name: {name}", f"              mountPath: {at}", "              readOnly: true"]
    rows += ["      volumes:", "        - name: shm", "          emptyDir: {medium: Memory}"]
    for name, at, lone in named:
        rows += [f"        - name: {name}", "          hostPath:", f"            path: {at}"]
        rows.append(f"            type: {'File' if lone else 'Directory'}")
    return "\n".join(rows) + "\n"


def config(typed: Mapping[str, Value], flags: Flags) -> tuple[str, tuple[str, ...]]:
    """SGLang's --config file, and the flags that such a file cannot say."""
    rows: list[str] = []
    lacking: list[str] = []
    for name, value in typed.items():
        flag = flags.get(name)
        if value is None or flag is None:
            continue
        action = next((one for one in flag.actions if _fits(one, name)), None)
        if action is None:
            lacking.append(name)
            continue
        rows.append(f"{_key(action, name)}: {_entry(value)}")
    return "".join(row + "\n" for row in rows), tuple(lacking)


def _fits(action: Action, name: str) -> bool:
    return bool(_key(action, name)) and action.action in ("store", "store_true") and not action.deprecated


def _key(action: Action, name: str) -> str:
    """The option a file sets: the field's own name where it is one."""
    long = [option[2:] for option in action.options if option.startswith("--")]
    own = name.replace("_", "-")
    return own if own in long else (long[0] if long else "")


def _entry(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_entry(one) for one in value) + "]"
    return quoted(value) if isinstance(value, str) else str(value)


def quoted(text: str, *, dollar: bool = False) -> str:
    """A YAML scalar that every reader takes as this text; ``dollar``: where `$` would begin a variable."""
    shown = text.replace("$", "$$") if dollar else text
    plain = _PLAIN.fullmatch(shown) and shown.lower() not in _KEYWORDS and not shown.startswith("-")
    option = re.fullmatch(r"--[a-z][a-z0-9-]*", shown)
    number = re.fullmatch(r"[\d_.+-]+(?:[eE][+-]?\d+)?|0[xob][0-9a-fA-F_]+|\.?(?:inf|nan)", shown, re.IGNORECASE)
    return shown if (plain or option) and not number else json.dumps(shown, ensure_ascii=False)


def _label(text: str) -> str:
    """A label's value as device plugins write a product's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-_.")[:63]
