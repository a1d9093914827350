"""A release's flags -> random launch commands over all of them, with edge values: cases to ask SGLang about.

    python -m tests.conformance.draw --release 0.5.23 --models MODELS --seed 1 --count 2000 --out CASES.jsonl [--odd]

MODELS holds a folder with a `config.json` for each checkpoint. ``--odd`` draws values that nobody would want: zero,
negative and huge numbers, empty words, JSON of another shape; ``--decisive`` draws two to four flags of those that
some rule reads. Same arguments, same cases.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from constraints.knowledge import Knowledge
from constraints.lint import reads
from constraints.load import load
from constraints.schema import Action, Flag

# Flags about files, hosts and the log: what they do depends on the machine, or on nothing.
LEFT_OUT = ("config", "help", "model_path", "tokenizer_path", "model_checksum", "speculative_draft_model_path")
_DRAFTS = ("EAGLE3-LLaMA3.1-8B", "EAGLE-LLaMA3.1-8B", "Llama-3.2-1B")
GPUS = ("H100", "H200", "B200", "B300", "GB200", "A100", "L40S", "RTX5090", "RTXPRO6000", "GB10", "MI300X", "MI355X")
INTEGERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096)
FLOATS = (0.1, 0.5, 0.8, 0.95, 1.0, 2.0)
LISTS = (["1"], ["1", "2", "4"], ["8", "16"])
OBJECTS = ("{}", '{"a": 1}')
ODD_INTEGERS = (
    0,
    0,
    -1,
    -1,
    -2,
    1,
    3,
    5,
    7,
    48,
    100,
    10**6,
    10**20,
)  # not so huge that SGLang fills memory with a list
ODD_FLOATS = (0.0, -0.5, 1.0, 1.5, 1000.0, 1e-9, float("nan"), float("inf"))
ODD_TEXTS = ("", "x", "null", "None", "auto")
ODD_LISTS = (["0"], ["-1"], ["4", "2", "1"], ["1", "1"], ["1000000"])
ODD_OBJECTS = ("{}", "[]", "null", "3", '"a"', '{"a": {"b": []}}')
# Values of flags that are plain text for the parser and a choice for what follows it.
TEXTS: dict[str, tuple[str, ...]] = {
    "speculative_algorithm": ("EAGLE", "EAGLE3", "NEXTN", "NGRAM", "STANDALONE", "DFLASH", "DSPARK", "eagle"),
    "speculative_draft_attention_backend": ("triton", "flashinfer", "fa3", "trtllm_mha", "trtllm_mla"),
    "device": ("cuda", "cpu"),
    "radix_cache_backend": ("default", "unified"),
    "eplb_algorithm": ("auto", "deepseek", "x"),
    "init_expert_location": ("trivial",),
    "json_model_override_args": ("{}", '{"num_hidden_layers": 4}', '{"architectures": ["LlamaForCausalLM"]}'),
    "dllm_algorithm": ("LowConfidence", "x"),
    "model_impl": ("auto", "sglang", "transformers"),
    "hisparse_config": ("{}", '{"top_k": 2048}', '{"device_buffer_size": 1024}'),
    "cuda_graph_config": ("{}", '{"decode": {"backend": "full"}}', '{"prefill": {"backend": "breakable"}}'),
    "lora_target_modules": ("all", "q_proj"),
}


class Draw:
    """Commands of one release, drawn from a seed."""

    def __init__(self, knowledge: Knowledge, models: Path, seed: int, odd: bool, decisive: bool) -> None:
        self.random = random.Random(f"{knowledge.release}-{seed}-{odd}-{decisive}")
        self.odd = odd
        self.numbers = (2, 3, 4) if decisive else (1, 1, 2, 3, 5)
        read = {name.removeprefix("typed.") for one in knowledge.program for name in reads(one)}
        self.flags = [
            flag for flag in _sorted(knowledge) if flag.name not in LEFT_OUT and (flag.name in read or not decisive)
        ]
        self.weights = [_weight(flag.actions[0]) for flag in self.flags]
        every = sorted(path.parent.name for path in models.glob("*/config.json"))
        self.models = [name for name in every if name not in _DRAFTS[:2]]

    def case(self, number: int) -> dict[str, Any]:
        """One command: how a server is usually started, and one to five flags drawn from all."""
        gpus = self.random.choice((1, 2, 4, 8, 8))
        model = self.random.choice(self.models)
        args = ["--tp-size", str(gpus)] if self.random.random() < 0.8 else []
        if model == "Llama-3.1-8B" and self.random.random() < 0.5:
            args += ["--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", f"@{_DRAFTS[0]}"]
        for flag in self.random.choices(self.flags, self.weights, k=self.random.choice(self.numbers)):
            args += self.words(flag)
        gpu = self.random.choice(GPUS)
        return {"id": f"d{number:05d}", "gpu": gpu, "model": model, "num_gpus": gpus, "args": args}

    def words(self, flag: Flag) -> list[str]:
        """An option of the flag with its value."""
        action = flag.actions[0]
        option = self.random.choice(action.options)
        if action.action not in ("store", "append", "lora_paths", "translate"):
            return [option]
        if action.nargs in ("*", "+"):
            values = self.values(flag, action)
            return [option, *values]
        return [f"{option}={self.value(flag, action)}"]

    def value(self, flag: Flag, action: Action) -> str:
        """A value the parser takes."""
        if action.choices:
            return str(self.random.choice(action.choices))
        if flag.name in TEXTS and not (self.odd and self.random.random() < 0.3):
            return self.random.choice(TEXTS[flag.name])
        if action.type == "int":
            return str(self.random.choice(ODD_INTEGERS if self.odd else INTEGERS))
        if action.type == "float":
            return str(self.random.choice(ODD_FLOATS if self.odd else FLOATS))
        if action.converter.startswith(("json", "cuda_graph_config")):
            return self.random.choice(ODD_OBJECTS if self.odd else OBJECTS)
        return self.random.choice(ODD_TEXTS + ODD_OBJECTS if self.odd else ODD_TEXTS[1:])

    def values(self, flag: Flag, action: Action) -> list[str]:
        """Several values of a list."""
        if action.choices:
            return [str(self.random.choice(action.choices))]
        if flag.name in TEXTS:
            return [self.random.choice(TEXTS[flag.name])]
        return list(self.random.choice(ODD_LISTS if self.odd else LISTS))


def _weight(action: Action) -> int:
    """Numbers and choices decide more than texts do."""
    return 4 if action.type in ("int", "float") or action.choices else 2 if action.type == "bool" else 1


def _sorted(knowledge: Knowledge) -> Iterator[Flag]:
    for name in sorted(knowledge.flags):
        flag = knowledge.flags[name]
        if flag.actions and flag.actions[0].options:
            yield flag


def main() -> None:
    """Write the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--release", required=True)
    parser.add_argument("--models", required=True, type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--odd", action="store_true")
    parser.add_argument("--decisive", action="store_true")
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    draw = Draw(load(options.release), options.models, options.seed, options.odd, options.decisive)
    with options.out.open("w", encoding="utf-8") as out:
        for number in range(options.count):
            out.write(json.dumps(draw.case(number)) + "\n")


if __name__ == "__main__":
    main()
