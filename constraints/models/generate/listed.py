"""Names -> the lines of a YAML list, as the writers of this folder lay it out."""

# mypy: ignore-errors
# ruff: noqa
import textwrap


def wrapped(names, indent):
    return textwrap.fill(
        ", ".join(names),
        width=118,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
