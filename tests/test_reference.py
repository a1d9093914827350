"""Reference pages say what the knowledge says: `python docs/generate.py reference` makes them again."""

from __future__ import annotations

from docs import generate


def test_pages_are_not_stale() -> None:
    made = generate.reference_pages()
    written = set((generate.HERE / "reference").rglob("*.md"))
    assert written == set(made)
    stale = [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run: python docs/generate.py reference"


def test_every_rule_has_an_entry() -> None:
    text = "\n".join(generate.reference_pages().values())
    assert "### trtllm-mla-needs-mla\n" in text
    assert "`--attention-backend`" in text
