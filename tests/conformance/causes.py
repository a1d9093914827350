"""Why we and SGLang differ where we do: a line of SGLang, or a flag in a command -> the cause, for the truth report."""

from __future__ import annotations

# Matched in this order against the text of a disagreement and of its command.
CAUSES = (
    ("OverflowError", "The recorder lists as many ranks as tp_size says; SGLang would start as many processes."),
    (
        "MemoryError",
        "SGLang lists a size for every batch until the machine's memory is full; how much it has is not asked.",
    ),
    ("--decrypted-config-file", "Names a file; whether it is there, and what it holds, is not asked."),
    ("--watermark-config", "Names a file when it is no JSON object; whether it is there is not asked."),
    ("--ssl-keyfile", "Names a file; whether it is there is not asked."),
    ("--trust-remote-code", "SGLang loads Python files of the checkpoint, which the recorder's folders do not hold."),
    (
        "dots_hybrid_backend",
        "The recorder makes attention backends without their constructors, whose attributes this wrapper reads.",
    ),
    ("kimi_k3.py:33", "SGLang asks the installed FlashInfer for a parameter, which the recorder's stand-in lacks."),
    (
        "glm_image",
        "Without a vision part of its own the class hands all keys of a flat config to the vision tower too.",
    ),
    (
        "MistralForCausalLMEagle",
        "Where a path has mistral and eagle in it SGLang reads params.json; what lies beside config.json is not asked.",
    ),
    ("--mem-fraction-static=inf", "Arithmetic with infinity is not done."),
)


def cause_of(text: str) -> str:
    """The cause of a disagreement; empty when it was not found yet."""
    return next((cause for mark, cause in CAUSES if mark in text), "")
