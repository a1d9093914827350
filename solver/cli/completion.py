"""What a shell offers when the tab key is pressed: GPUs, models, releases, flags, profiles."""

from __future__ import annotations

from collections.abc import Iterable


def gpus(incomplete: str) -> list[str]:
    """GPUs by name, with a count where one was begun."""
    from constraints import store

    known = store.knowledge_of(store.known_releases()[-1]).gpus
    count, times, begun = incomplete.rpartition("x") if incomplete[:1].isdecimal() else ("", "", incomplete)
    lead = f"{count}{times}" if times else ""
    return [lead + name for name in _beginning(known, begun)]


def models(incomplete: str) -> list[str]:
    """Checkpoints of the catalogue."""
    from constraints import store

    return _beginning((one.id for one in store.catalogue().checkpoints), incomplete)


def releases(incomplete: str) -> list[str]:
    """Releases that were read."""
    from constraints import store

    return _beginning(store.known_releases(), incomplete)


def flags(incomplete: str) -> list[str]:
    """Fields of flags, with `=` behind; their values once it is there."""
    from constraints import store

    known = store.knowledge_of(store.known_releases()[-1]).flags
    name, equals, value = incomplete.partition("=")
    if equals and name in known:
        choices = [str(one) for one in known[name].choices or ()]
        return [f"{name}={one}" for one in _beginning(choices, value)]
    return [f"{one}=" for one in _beginning(known, incomplete)]


def profiles(incomplete: str) -> list[str]:
    """Profiles by name."""
    from constraints import store

    return _beginning(store.knowledge_of(store.known_releases()[-1]).profiles, incomplete)


def _beginning(names: Iterable[str], begun: str) -> list[str]:
    return sorted(name for name in names if name.lower().startswith(begun.lower()))
