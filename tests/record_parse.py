"""A release's flags -> command lines of every kind, and what SGLang's own parser makes of each, for `test_command.py`.

Run by a person with a Python that can import that SGLang, from the root of the repository:
``python tests/record_parse.py --tree TREE --release 0.5.23 --out tests/data/parse-0.5.23.jsonl.gz [--hook MODULE]``.
No sentence of SGLang's is kept: its refusals become the codes of `solver.intake.refusal`.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import logging
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from constraints.flags import load_flags  # noqa: E402
from constraints.read import read_file  # noqa: E402
from constraints.schema import Action, Flag  # noqa: E402
from constraints.values import frozen  # noqa: E402

MODEL = ["--model-path", "m"]
SAMPLES: dict[str, list[str]] = {
    "str": ["x", "", "a b", "-", "None"],
    "int": ["8", "-1", "+3", " 7 ", "1_000", "007"],
    "float": ["0.5", "-0.5", "1e-3", "nan", "3", "-1e5"],
    "json": ['{"a": [1, 2.0, null], "b": {"c": true}}', "[]", "5", '"t"', "null", "NaN", "[1, [2]]"],
    "json_list": ["[1, 2]", '["a", {"b": 1}]', "{}", "3"],
    "human_readable_int": ["8k", "2Ki", "1.5k", "4096", "-1", " 1M "],
    "nullable": ["None", "", "x"],
    "cuda_graph_config": [
        '{"decode": {"backend": "full"}}',
        '{"prefill": {"bs": [1, 2], "max_bs": null}, "decode": {}}',
        '{"prefill": {"backend": "nonsense"}}',
        "{}",
    ],
    "lora_paths": ["a", "n=p", '{"lora_name": "a", "lora_path": "b"}', " spaced "],
}
WRONG: dict[str, list[str]] = {
    "int": ["0x10", "8k", "1.0", "", "eight", "1__0", "-1e5", "--1"],
    "float": ["half", "", "0x1p3", "1,5"],
    "json": ["{", "", "{'a': 1}", "[1,]", "tru"],
    "json_list": ["[", "NaN", "", "[1] 2", '"\\ud800"'],
    "human_readable_int": ["8K", "1.5Ki", "k", "", "8 k", "1e3"],
    "cuda_graph_config": [
        *("[]", "{", '{"verify": {}}', '{"decode": 1}', '{"decode": {"tc_compiler": "eager"}}'),
        *('{"prefill": {"backend": "tc_piecewise"}}', '{"decode": {"max_seq_len": 1}}'),
    ],
    "lora_paths": ['{"a": 1}', "{x}"],
}
ODD = [
    [], ["--help"], ["-h"], ["-hh"], ["-hx"], ["-h=1"], ["--", "--tp", "2"], ["--tp", "--", "2"], ["--tp=--"],
    ["stray"], ["-tp", "2"], ["--t", "2"], ["--=2"], ["--no-such"], ["--no-such", "v", "--tp", "2"], ["--no such", "3"],
    ["--tp", "2", "--tp", "3"], ["--tp", "2", "4"], ["--tp", "two", "--no-such"], ["--no-such", "--tp", "two"],
    ["--tp", "two", "--model"], ["--tp", "two", "--c"], ["--log-level", "loud"], ["--log-level", "Warning"],
    ["--log-level", "loud", "--no-such"], ["--trust-remote-code=true"], ["--trust-remote-code", "true"], ["-1"],
    ["-1.5"], ["-x y"], [""], ["-"], ["--config=missing.yaml"], ["--conf", "missing.yaml"], ["--trust"],
    ["--host", "-1"], ["--host", "-a"], ["--host", "-a b"], ["--served-model-name=-a"], ["--tp-size=", "--no-such"],
    ["--tp\u00a02"],
    ["--lora-paths", "--tp", "2"], ["--lora-paths=a", "b"], ["--cuda-graph-max-bs", "8"], ["--cuda-graph-bs", "1", "2"],
]  # fmt: skip
FILES: list[tuple[str, list[str]]] = [
    ("tp: 2\n", []), ("tp-size: 2\nmodel-path: z\n", ["--tp", "4"]), ("tp_size: 2\n", []),
    ("tensor-parallel-size: 2\n", []),
    ("trust-remote-code: true\n", []), ("trust-remote-code: false\n", []), ("trust_remote_code: yes\n", []),
    ("trust_remote_code: true\n", []), ("no-such: 1\n", []), ("lora-paths: [a, b]\n", []), ("lora_paths: [a]\n", []),
    ("cuda-graph-bs-decode: [1, 2]\n", []), ("cuda_graph_bs_decode: [1, 2]\n", []), ("cuda-graph-bs-decode: []\n", []),
    ("cuda-graph-max-bs-decode: 8\n", []), ("cuda_graph_max_bs_decode: 8\n", []), ("cuda-graph-max-bs: 8\n", []),
    ("cuda-graph-config: {decode: {backend: full}}\n", []), ("disable-cuda-graph: true\n", []), ("", []), ("[]\n", []),
    ("a: [\n", []), ("1: 2\n", []), ("served-model-name: null\n", []), ("served-model-name: 2020-01-01\n", []),
    ("enable-tf32-matmul: true\n", []), ("enable_tf32_matmul: false\n", []), ("mem-fraction-static: 0.80\n", []),
    ("config: other.yaml\n", []), ("attention-backend: nonsense\n", []), ("page-size: 010\n", []), ("help: true\n", []),
    ("dsa_decode_backend: fa3\n", []), ("dsa-decode-backend: fa3\n", []), ("nsa-decode-backend: fa3\n", []),
    ("monokernel-backend: amd\n", []), ("enable-amd-monokernel: true\n", []), ("stream-output: true\n", []),
    ("incremental-streaming-output: true\n", []), ("reasoning-parser: null\n", []),
    ("kv-cache-dtype: auto\n", ["--no-such"]),
]  # fmt: skip


def kind(action: Action) -> str:
    """Which samples suit an action."""
    return "lora_paths" if action.action == "lora_paths" else action.converter or action.type


def good(action: Action, draw: random.Random) -> list[str]:
    """Words that the action takes, or nearly."""
    if action.action in ("store_true", "store_const", "boolean_optional", "ignore", "refuse", "help"):
        return []
    pool = [str(choice) for choice in action.choices] if action.choices else SAMPLES.get(kind(action), SAMPLES["str"])
    count = {"*": draw.randint(0, 3), "+": draw.randint(1, 3), "?": draw.randint(0, 1), None: 1}[action.nargs]  # type: ignore[index]
    return [draw.choice(pool) for _ in range(count)]


def bad(action: Action, draw: random.Random) -> list[str]:
    """Words that the action refuses, or nearly."""
    if action.choices:
        near = str(draw.choice(action.choices))
        return [draw.choice([near + "x", near.upper(), near[:-1], "nonsense", ""])]
    return [draw.choice(WRONG.get(kind(action), ["--"]))]


def cases(flags: dict[str, Flag], others: set[str], draw: random.Random) -> Iterator[dict[str, Any]]:
    """Command lines: each action once well and once ill, abbreviations, options of other releases, mixtures, files."""
    actions = [action for flag in flags.values() for action in flag.actions]
    for odd in ODD:
        yield {"args": [*MODEL, *odd]}
        yield {"args": [*odd]}
    for text, more in FILES:
        yield {"args": [*MODEL, "--config", "c.yaml", *more], "files": {"c.yaml": text}}
    for words in (
        ["--config"],
        ["--config", "c.yml", "--config", "c.yml"],
        ["--config", "c.json"],
        ["--config", "n.yaml"],
    ):
        yield {"args": [*MODEL, *words], "files": {"c.yml": "tp: 2\n", "c.json": "{}"}}
    for option in sorted(others):
        yield {"args": [*MODEL, option, "1"]}
    for action in actions:
        option = draw.choice(action.options)
        yield {"args": [*MODEL, option, *good(action, draw)]}
        yield {"args": [*MODEL, option, *bad(action, draw)]}
        value = (good(action, draw) + bad(action, draw))[0]
        yield {"args": [*MODEL, draw.choice([f"{option}={value}", option])]}
        short = option[: draw.randint(2, len(option))]
        yield {"args": [*MODEL, short, *good(action, draw)]}
    for _ in range(700):
        args = list(MODEL) if draw.random() < 0.9 else []
        for action in draw.sample(actions, draw.randint(2, 6)):
            option = draw.choice(action.options)
            option = option[: draw.randint(6, len(option) + 9)]
            words = (good if draw.random() < 0.9 else bad)(action, draw)
            args += [f"{option}={words[0]}"] if len(words) == 1 and draw.random() < 0.3 else [option, *words]
        if draw.random() < 0.1:
            args.insert(draw.randint(0, len(args)), draw.choice(["stray", "--", "--no-such", "-1", "-h"]))
        yield {"args": args}


PATTERNS = [
    ("ambiguous-option", re.compile(r"ambiguous option: (?P<option>.*) could match (?P<candidates>.*)", re.DOTALL)),
    ("left-over", re.compile(r"unrecognized arguments: (?P<extras>.*)", re.DOTALL)),
    ("missing-required", re.compile(r"the following arguments are required: .*")),
    ("help", re.compile(r"exit 0")),
    ("missing-value", re.compile(r"argument (?P<option>\S+): expected .*argument.*")),
    ("takes-no-value", re.compile(r"argument (?P<option>\S+): ignored explicit argument.*", re.DOTALL)),
    ("bad-choice", re.compile(r"argument (?P<option>\S+): invalid choice: .*", re.DOTALL)),
    ("bad-value", re.compile(r"argument (?P<option>\S+): .*", re.DOTALL)),
    ("retired-option", re.compile(r".* is no longer supported.*", re.DOTALL)),
]


class Stopped(Exception):
    """The parser would have ended the process."""


def coded(message: str) -> dict[str, Any]:
    """A refusal of argparse as a code and the names in it."""
    for reason, pattern in PATTERNS:
        match = pattern.fullmatch(message)
        if match:
            found: dict[str, Any] = {"reason": reason, **match.groupdict()}
            if "candidates" in found:
                found["candidates"] = sorted(found["candidates"].split(", "))
            return found
    raise SystemExit(f"a message of a new kind: {message}")


class Recorder:
    """SGLang's `prepare_server_args`, stopped before it resolves anything."""

    def __init__(self) -> None:
        self.module: Any = importlib.import_module("sglang.srt.server_args")
        self.untyped = object()
        self.space = argparse.Namespace()
        recorder = self

        class Parser(argparse.ArgumentParser):
            def error(self, message: str) -> Any:
                raise Stopped(message)

            def exit(self, status: int = 0, message: str | None = None) -> Any:
                raise Stopped(f"exit {status}")

            def print_help(self, file: Any = None) -> None:
                pass

            def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
                space = argparse.Namespace()  # filled beforehand, so that argparse sets no default
                for action in self._actions:
                    setattr(space, action.dest, recorder.untyped)
                super().parse_args(args, space)
                recorder.space = argparse.Namespace(**vars(space))
                for action in self._actions:
                    if getattr(space, action.dest) is recorder.untyped:
                        setattr(space, action.dest, action.default)
                return space

        built = Parser(prog="sglang serve")  # once: it takes a tenth of a second
        self.module.ServerArgs.add_cli_args(built)
        self.module.ServerArgs.add_cli_args = staticmethod(lambda parser: None)
        vars(self.module)["argparse"] = SimpleNamespace(**vars(argparse) | {"ArgumentParser": lambda **_: built})
        self.module.ServerArgs.from_cli_args = staticmethod(lambda args: argparse.Namespace())

    def record(self, case: dict[str, Any]) -> dict[str, Any]:
        """The case with its verdict."""
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name, text in case.get("files", {}).items():
                Path(name).write_text(text, encoding="utf-8")
            try:
                self.module.prepare_server_args(list(case["args"]))
            except Stopped as stop:
                return case | {"verdict": "refused"} | coded(str(stop))
            except Exception as crash:
                return case | {"verdict": "refused", "reason": "crash", "error": type(crash).__name__}
        typed = {name: value for name, value in vars(self.space).items() if value is not self.untyped}
        return case | {"verdict": "ok", "typed": {name: frozen(value) for name, value in sorted(typed.items())}}


def main() -> None:
    """Draw the cases, record them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--release", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hook", action="append", default=[])
    asked = parser.parse_args()
    out = asked.out.resolve()
    documents = {path.name: read_file(path) for path in sorted((ROOT / "constraints/sglang/flags").glob("*.yaml"))}
    flags = load_flags(documents, asked.release, [])
    spelled = {option for flag in flags.values() for action in flag.actions for option in action.options}
    every = {
        option
        for release in ("0.5.18", "0.5.23")
        for flag in load_flags(documents, release, []).values()
        for action in flag.actions
        for option in action.options
    }
    drawn = list(cases(flags, every - spelled, random.Random(asked.release)))
    for hook in asked.hook:
        importlib.import_module(hook)
    sys.path.insert(0, str(asked.tree))
    recorder = Recorder()
    logging.disable()
    lines = [json.dumps(recorder.record(case), sort_keys=True) + "\n" for case in drawn]
    with gzip.GzipFile(out, "wb", mtime=0) as file:  # no clock in it: the same cases, the same bytes
        file.write("".join(lines).encode())


if __name__ == "__main__":
    main()
