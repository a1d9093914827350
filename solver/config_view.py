"""A config.json and what its Python class would add -> the value under a dotted name, with the keys it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from constraints.models_schema import ConfigClass, ModelKnowledge
from constraints.values import Value

_PLAIN = ConfigClass("")
# A mapping that holds the text part's default class when the file does not state the part.
_NOTHING: Mapping[str, Any] = {}


class Reads:
    """What was read so far, in order: keys that stand in the file, keys that do not, and what other reads come to."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[tuple[str, bool] | Reads, None] = {}

    def note(self, key: str, *, found: bool) -> None:
        """``key`` was read: ``found`` in the file, or answered by the class, if at all."""
        self._entries[key, found] = None

    def take(self, reads: Reads) -> None:
        """All that ``reads`` holds was read again; it is complete."""
        self._entries[reads] = None

    def keys(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The keys found, and those that were only looked for."""
        found: dict[str, None] = {}
        absent: dict[str, None] = {}
        self._gather(found, absent, set())
        return tuple(found), tuple(key for key in absent if key not in found)

    def _gather(self, found: dict[str, None], absent: dict[str, None], seen: set[Reads]) -> None:
        for entry in self._entries:
            if isinstance(entry, tuple):
                key, is_found = entry
                (found if is_found else absent)[key] = None
            elif entry not in seen:
                seen.add(entry)
                entry._gather(found, absent, seen)


@dataclass(slots=True)
class Log:
    """Where reads go; every view of one config shares it, and it is turned to another ``Reads`` for each fact."""

    reads: Reads = field(default_factory=Reads)


class ConfigView:
    """One level of a config: the file's mapping seen through its class. ``over`` wins over everything."""

    __slots__ = ("_known", "_parts", "cls", "log", "over", "path", "raw")

    def __init__(
        self,
        raw: Mapping[str, Any],
        cls: ConfigClass | None,
        known: ModelKnowledge,
        log: Log,
        path: str = "",
        over: Mapping[str, Any] | None = None,
    ) -> None:
        self.raw = raw
        self.cls = cls or _PLAIN
        self.log = log
        self.path = path
        self.over = over or {}
        self._known = known
        self._parts: dict[str, ConfigView] = {}

    def has(self, key: str) -> bool:
        """Whether the class instance would have this attribute, be it null."""
        cls = self.cls
        return (
            key in self.over
            or self._spelled(key) is not None
            or key in cls.values
            or key in cls.parts
            or key in cls.empty
            or key in cls.follow
            or key in cls.lift
            or key in cls.force
        )

    def misfits(self, over: bool = False, objects: Iterable[str] = ()) -> tuple[str, ...]:
        """Keys of the file, or of what is put ``over`` it, whose value is of a type that the class refuses.

        Of what is put over it, ``objects`` have to be such.
        """
        values = self.over if over else self.raw
        found = []
        # What is put over it meets the class that SGLang keeps, which may ask for less than the one that reads it.
        for key in self.cls.values if over else (*self.cls.values, *sorted(self.cls.required)):
            spelled = key if over else self._spelled(key)
            if spelled is not None and spelled in values and not self.cls.takes(key, values[spelled], over):
                self.log.reads.note(self.path + spelled, found=True)
                found.append(spelled)
        for key in objects if over else ():
            if not isinstance(values.get(key), (Mapping, type(None))):
                self.log.reads.note(self.path + key, found=True)
                found.append(key)
        return tuple(dict.fromkeys(found))

    def stated(self, key: str) -> Any:
        """What the file says under ``key``, whatever the class makes of it."""
        if key not in self.raw:
            self.log.reads.note(self.path + key, found=False)
            return None
        self.log.reads.note(self.path + key, found=True)
        return self.raw[key]

    def get(self, key: str) -> Any:
        """The value of ``key``: a JSON value, or a view of a part."""
        if key in self.over:
            self.log.reads.note(self.path + key, found=True)
            return self._over(key)
        if key in self.cls.force:
            return self.cls.force[key](PlainView(self, key))
        return self.unforced(key)

    def _over(self, key: str) -> Any:
        value = self.over[key]
        if not isinstance(value, Mapping):
            return value
        # An object given for a part changes keys of the part; elsewhere it replaces the value.
        current = self.unforced(key)
        if isinstance(current, ConfigView):
            current.over = {**current.over, **value}
            return current
        return self._part(key, value) if key.endswith("_config") else value

    def unforced(self, key: str) -> Any:
        """The value of ``key`` before the class replaces it."""
        value = self._stored(key)
        if value is None and key in self.cls.lift:
            return walk(self, list(self.cls.lift[key]))
        if value is None and key in self.cls.follow:
            return self.cls.follow[key](PlainView(self, key))
        return value

    def _spelled(self, key: str) -> str | None:
        if key in self.raw:
            return key
        other = self.cls.aliases.get(key)
        return other if other is not None and other in self.raw else None

    def _stored(self, key: str) -> Any:
        cls = self.cls
        spelled = self._spelled(key)
        part = key in cls.parts or key in cls.own
        if spelled is None:
            self.log.reads.note(self.path + key, found=False)
            if part and key not in cls.empty:
                flat = cls.flat and any(key in path for path in self._known.text_paths)
                return self._part(key, self.raw if flat else cls.values.get(key, _NOTHING))
            if key == "model_type" and cls.kind:
                return cls.kind.partition("@")[0]
            return cls.values.get(key, cls.values.get(cls.aliases.get(key, "")))
        self.log.reads.note(self.path + spelled, found=True)
        value = self.raw[spelled]
        if value is None and part and key not in cls.empty:
            return self._part(key, _NOTHING)
        if isinstance(value, Mapping) and (part or key.endswith("_config")):
            return self._part(key, value)
        return value

    def _part(self, key: str, raw: Mapping[str, Any]) -> ConfigView:
        view = self._parts.get(key)
        if view is None:
            name = self.cls.parts.get(key)
            if key in self.cls.own and raw is not self.raw and isinstance(raw.get("model_type"), str):
                name = raw["model_type"]
            cls = self._known.classes.get(name) if name is not None else None
            path = self.path if raw is self.raw else f"{self.path}{key}."
            view = self._parts[key] = ConfigView(raw, cls, self._known, self.log, path)
        return view


class PlainView(Mapping[str, Value]):
    """A view as the environment of its class's own expressions: bare keys, and ``own`` unforced."""

    __slots__ = ("_own", "_view")

    def __init__(self, view: ConfigView, own: str = "") -> None:
        self._view = view
        self._own = own

    def __getitem__(self, name: str) -> Value:
        head, *rest = name.split(".")
        if head == "file":
            return plain(walk(self._view._stored(rest[0]), rest[1:]))
        # Under `follow` the key itself is known to be absent; under `force` it is what the file says.
        value = self._view._stored(head) if head == self._own else self._view.get(head)
        return plain(walk(value, rest))

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def walk(value: Any, names: list[str]) -> Any:
    """The value under ``names`` inside ``value``; ``each`` stands for every value of a mapping or list."""
    for place, name in enumerate(names):
        if isinstance(value, ConfigView):
            value = value.get(name)
        elif name == "each" and isinstance(value, (Mapping, list, tuple)):
            members = list(value.values()) if isinstance(value, Mapping) else list(value)
            return [walk(member, names[place + 1 :]) for member in members]
        elif isinstance(value, Mapping):
            value = value.get(name)
        else:
            return None
    return value


def plain(value: Any) -> Value:
    """A JSON value in the rule language: lists are tuples, and a mapping is the tuple of its keys."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, ConfigView):
        return tuple(value.raw) or ("defaults",)
    if isinstance(value, Mapping):
        return tuple(str(key) for key in value)
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    return None
