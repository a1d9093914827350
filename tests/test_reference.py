"""Reference pages say what the knowledge says: `python docs/generate.py reference` makes them again."""

from __future__ import annotations

from constraints.store import knowledge_of, known_releases
from docs import generate


def test_pages_are_not_stale() -> None:
    made = generate.reference_pages()
    written = set((generate.HERE / "reference").rglob("*.md"))
    assert written == set(made)
    stale = [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run: python docs/generate.py reference"


def test_every_rule_has_an_entry() -> None:
    text = "\n".join(generate.reference_pages().values())
    missing = [
        rule for release in known_releases() for rule in knowledge_of(release).rules if f"### {rule}\n" not in text
    ]
    assert not missing
    assert "`--attention-backend`" in text
