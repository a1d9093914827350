"""``models/kinds/*.yaml`` -> the kind of value that each key of a config.json holds."""

from __future__ import annotations

from .errors import Fault
from .models_schema import KeyKind, Kinds
from .read import Mapped

WORDS = ("whole", "number", "truth", "text", "wholes", "texts", "list", "object")
_KEYS = frozenset(("kind", "nullable", "other", "never_null", "blank", "above_zero"))


def kinds_of(file: str, document: Mapped, faults: list[Fault]) -> Kinds:
    """The kinds of a file; what is wrong with it is added to ``faults``."""
    listed: Mapped = document.get("kinds") or Mapped(1)
    found: dict[str, KeyKind] = {}
    for name, data in listed.items():
        line = listed.line_of(name)
        if not isinstance(data, Mapped) or not {"kind"} <= set(data) <= _KEYS:
            faults.append(Fault(file, line, f"{name} has the keys {', '.join(sorted(_KEYS))}"))
            continue
        found[str(name)] = KeyKind(
            _words(file, line, data["kind"], faults),
            frozenset(map(str, data.get("nullable") or ())),
            {
                str(cls): _words(file, line, kinds, faults)
                for kinds, classes in (data.get("other") or {}).items()
                for cls in classes
            },
            data.get("never_null") is True,
            data.get("blank") is True,
            data.get("above_zero") is True,
        )
    counts = {str(name): str(other) for name, other in (document.get("counts") or {}).items()}
    return Kinds(found, frozenset(map(str, document.get("loose") or ())), counts)


def _words(file: str, line: int, text: object, faults: list[Fault]) -> tuple[str, ...]:
    words = tuple(str(text).split("|"))
    faults += [
        Fault(file, line, f"{word} is no kind; there are {', '.join(WORDS)}") for word in words if word not in WORDS
    ]
    return words
