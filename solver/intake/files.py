"""The text of a file of any kind -> every launch of SGLang in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from constraints.schema import Flags

from ..errors import InputError
from .broken import broken_off
from .dockerfile import dockerfile_launches, is_dockerfile
from .kinds import SHELL
from .launch import Launch, launch_from
from .refusal import Refusal
from .systemd import is_unit, systemd_launches
from .variables import Variables
from .words import read_commands

MOST_LAUNCHES = 64
_YAML = (".yaml", ".yml", ".json")
_YAML_START = re.compile(r"""(?:---|\{|- |["']?[\w./-]+["']?[ \t]*:(?:[ \t]|$))""", re.ASCII)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(\w*)")
_SHELL_BLOCKS, _YAML_BLOCKS = ("sh", "bash", "shell", "console", "zsh"), ("yaml", "yml")
_SERVER = re.compile(r"sglang", re.IGNORECASE)
_PROMPT = re.compile(r"^([ \t]*)([$#>] )(?=\S)", re.MULTILINE)
# Pages on the web have such blanks in the commands that people copy.
_ODD_BLANK = re.compile(r"sglang[^\n]*[\u00a0\u2000-\u200b\u202f\u3000]|[\u00a0\u2000-\u200b\u202f\u3000][^\n]*sglang")
_HINT = "Give a shell command, Dockerfile, compose file, Kubernetes manifest, systemd unit or SGLang's --config YAML."


def read_launches(text: str, file: str, flags: Flags) -> tuple[Launch, ...]:
    """Every launch in ``text``, in order, at least one; the kind of file is seen by its name and content.

    Raises InputError.
    """
    found: list[Launch] = []
    try:
        for launch in _launches(text, file, flags):
            found.append(launch)
            if len(found) > MOST_LAUNCHES:
                raise InputError(f"more than {MOST_LAUNCHES} launches", file, "Split the file.")
    except InputError as fault:
        if fault.where is not None:
            raise
        raise InputError(fault.message, file, fault.hint, fault.near) from None
    if not found:
        odd = next((number for number, row in enumerate(text.splitlines(), 1) if _ODD_BLANK.search(row)), None)
        if odd is not None:
            raise InputError("holds a blank that a shell takes for a letter", f"{file}:{odd}", "Type the blanks anew.")
        raise InputError("launches no SGLang server", file, _HINT)
    return tuple(found)


def _launches(text: str, file: str, flags: Flags) -> Iterator[Launch]:
    path = PurePath(file)
    suffix = path.suffix.lower()
    if not text.strip():
        raise InputError("is empty", file, _HINT)
    if suffix in (".md", ".markdown"):
        yield from _page(file, text, flags)
    elif path.name.lower().startswith(("dockerfile", "containerfile")) or suffix == ".dockerfile":
        yield from dockerfile_launches(file, text)
    elif suffix == ".service" or (suffix not in (*_YAML, *SHELL) and is_unit(text)):
        yield from systemd_launches(file, text)
    elif suffix in _YAML or (suffix not in SHELL and _looks_like_yaml(text)):
        yield from _yaml(file, text, flags)
    elif suffix not in SHELL and is_dockerfile(text):
        yield from dockerfile_launches(file, text)
    else:
        yield from _shell(file, text)


def _looks_like_yaml(text: str) -> bool:
    first = next((row for row in text.splitlines() if row.strip() and not row.lstrip().startswith("#")), "")
    return not text.startswith("#!") and _YAML_START.match(first.lstrip()) is not None


def _yaml(file: str, text: str, flags: Flags) -> Iterator[Launch]:
    # Read with the first YAML file only: a command needs none of it.
    from .compose import compose_launches, is_compose
    from .kubernetes import is_kubernetes, kubernetes_launches, shared_variables
    from .serverconfig import is_server_config, server_config_launch, server_spellings
    from .yamltree import read_documents

    lines, spellings = text.splitlines(), server_spellings(flags)
    documents = read_documents(text, file)
    shared = shared_variables(documents)
    for document in documents:
        if is_compose(document):
            yield from compose_launches(file, lines, document)
        elif is_kubernetes(document):
            yield from kubernetes_launches(file, lines, document, shared)
        elif is_server_config(document, spellings):
            yield server_config_launch(file, text, document, flags)


def _shell(file: str, text: str) -> Iterator[Launch]:
    prompts = _without_prompts(text)
    found = read_commands(prompts, bare=False)
    if isinstance(found, Refusal):
        if found.reason == "no-command":
            found = read_commands(prompts) if prompts.lstrip().startswith("-") else found
        if isinstance(found, Refusal):
            if found.reason == "no-command":
                return
            raise broken_off(found.reason, f"{file}:{found.line}:{found.column}")
    for command in found:
        yield launch_from(command, "shell", file)


def _without_prompts(text: str) -> str:
    return _PROMPT.sub(lambda match: match[1] + " " * len(match[2]), text) if "\n$ " in f"\n{text}" else text


def _page(file: str, text: str, flags: Flags) -> Iterator[Launch]:
    """The launches of a page's blocks; what is wrong with one is told where no other holds a launch.

    Raises InputError.
    """
    fault: InputError | None = None
    known, any_found = Variables(), False
    for kind, line, body in _blocks(text):
        launches = _SERVER.search(body) is not None
        if kind in _YAML_BLOCKS and not launches:
            continue
        try:
            if kind in _YAML_BLOCKS:
                for launch in _yaml(file, "\n" * (line - 1) + body, flags):
                    any_found = True
                    yield launch
                continue
            found = read_commands(_without_prompts(body), bare=False, known=known, line=line)
            if isinstance(found, Refusal) and found.reason != "no-command":
                raise broken_off(found.reason, f"{file}:{found.line}:{found.column}")
            for command in found if not isinstance(found, Refusal) else ():
                any_found = True
                yield launch_from(command, "shell", file)
        except InputError as wrong:
            fault = fault or (wrong if launches else None)
    if fault is not None and not any_found:
        raise fault


def _blocks(text: str) -> Iterator[tuple[str, int, str]]:
    """The blocks of a page that hold shell or YAML: the kind, the line of the first row, and the text."""
    fence, kind, begun, body = "", "", 0, [""]
    for number, row in enumerate(text.split("\n"), 1):
        match = _FENCE.match(row)
        if match is None:
            body.append(row)
        elif not fence:
            fence, kind, begun, body = match[1], match[2].lower() or "sh", number + 1, []
        elif match[1].startswith(fence) and not row.strip().strip(fence[0]):  # what names a kind closes nothing
            if kind in (*_SHELL_BLOCKS, *_YAML_BLOCKS):
                yield kind, begun, "\n".join(body)
            fence = ""
        else:
            body.append(row)
