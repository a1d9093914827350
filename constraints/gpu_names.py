"""What a person may call a GPU, folded so that ways to write one name are equal."""

from __future__ import annotations

_BRANDS = ("nvidia", "amd", "instinct", "geforce", "tesla")  # words that a name may be written with or without


def spelling(text: str) -> str:
    """What is left of a GPU's name once case, spaces, dashes and the maker's words are put aside."""
    folded = "".join(letter for letter in text.casefold() if letter not in " -_\t")
    for brand in _BRANDS:
        folded = folded.removeprefix(brand) or folded
    return folded
