"""A release's flags -> commands that its parser must refuse, of four kinds: cases to ask SGLang about.

    python -m tests.conformance.draw_refusals --release 0.5.23 --seed 1 --count 300 --out CASES.jsonl

Kinds in turn: a value that is no choice (or no number), a prefix that several options share, an option that nobody
knows (or that another release had), an option without its value. Same arguments, same cases.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from constraints.knowledge import Knowledge
from constraints.load import load
from constraints.schema import Action

_MODELS = ("Qwen3-8B", "DeepSeek-V3", "Llama-3.1-8B", "Qwen3-30B-A3B")
_GOOD: tuple[list[str], ...] = (
    [],
    ["--tp-size", "2"],
    ["--page-size", "64"],
    ["--trust-remote-code"],
    ["--attention-backend=triton"],
)
_NUMBERS = {"int": ("8k", "1.0", "eight", "", "0x10"), "float": ("half", "", "1,5")}


class Refusals:
    """Commands of one release that cannot be parsed, drawn from a seed."""

    def __init__(self, knowledge: Knowledge, seed: int) -> None:
        self.random = random.Random(f"{knowledge.release}-{seed}")
        self.actions = [action for _, flag in sorted(knowledge.flags.items()) for action in flag.actions]
        self.options = sorted(option for action in self.actions for option in action.options if option[:2] == "--")
        self.gone = sorted(option for option in knowledge.elsewhere if option.startswith("--"))
        self.kinds: tuple[tuple[str, Callable[[], list[str]]], ...] = (
            ("bad-choice", self.bad_value),
            ("ambiguous", self.shared_prefix),
            ("unknown", self.unknown),
            ("missing-value", self.no_value),
        )

    def case(self, number: int) -> dict[str, Any]:
        """One command, good words before and after the bad ones."""
        kind, bad = self.kinds[number % len(self.kinds)]
        before, after = self.random.choice(_GOOD), self.random.choice(_GOOD)
        args = [*before, *bad(), *after]
        model = self.random.choice(_MODELS)
        return {"id": f"{kind}-{number:03d}", "gpu": "H100", "model": model, "num_gpus": 8, "args": args}

    def bad_value(self) -> list[str]:
        """An option with a value that it does not take."""
        action = self.random.choice([one for one in self.actions if _stores(one) and (one.choices or _numeric(one))])
        option = self.random.choice(action.options)
        if action.choices:
            near = str(self.random.choice(action.choices))
            known = {str(choice) for choice in action.choices}
            wrong = [word for word in (near + "x", near.upper(), near[:-1], "nonsense", "") if word not in known]
            return [f"{option}={self.random.choice(wrong)}"]
        return [f"{option}={self.random.choice(_NUMBERS[action.type])}"]

    def shared_prefix(self) -> list[str]:
        """The beginning of several options that is none of them, with a value for good measure."""
        while True:
            option = self.random.choice(self.options)
            prefix = option[: self.random.randint(3, len(option))]
            if prefix not in self.options and sum(one.startswith(prefix) for one in self.options) > 1:
                return [self.random.choice((prefix, f"{prefix}=1"))]

    def unknown(self) -> list[str]:
        """An option of another release, or a slip of the pen."""
        while True:
            known = self.random.choice(self.options)
            place = self.random.randint(3, max(3, len(known) - 1))
            slip = known[:place] + self.random.choice("qxz") + known[place:]
            option = self.random.choice(self.gone) if self.gone and self.random.random() < 0.4 else slip
            if not any(one.startswith(option) for one in self.options):
                return [option, *self.random.choice(([], ["1"]))]

    def no_value(self) -> list[str]:
        """An option that wants a value, followed by another option."""
        wanting = [one for one in self.actions if _stores(one) and one.nargs in (None, "+")]
        return [self.random.choice(self.random.choice(wanting).options), "--disable-radix-cache"]


def _stores(action: Action) -> bool:
    return action.action == "store"


def _numeric(action: Action) -> bool:
    return action.type in _NUMBERS and not action.converter and action.nargs is None


def main() -> None:
    """Write the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    draw = Refusals(load(options.release), options.seed)
    text = "".join(json.dumps(draw.case(number)) + "\n" for number in range(options.count))
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
