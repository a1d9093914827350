"""What was typed or set -> what could not be looked up or read of it, so that an answer says what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping

from constraints.environment import parse_value
from constraints.schema import EnvVar
from constraints.values import Value

from .check import Engine
from .errors import InputError
from .facts import Platform

# What the texts of variables are read as.
_KINDS = {"bool": "true or false", "int": "whole number", "float": "number", "json": "JSON"}


def environment_notes(variables: Mapping[str, EnvVar], platform: Platform) -> tuple[str, ...]:
    """A note for each variable whose text SGLang cannot read, and for each set name that no rule reads."""
    notes = []
    for name, text in platform.misread:
        value = parse_value(variables[name], text)
        ends = "as if it were not set" if value is None else f"with {str(value).lower()}"
        notes.append(f"{name}={text} is no {_KINDS[variables[name].type]}: SGLang warns, and runs {ends}")
    for name, near in platform.unread:
        meant = f"; did you mean {near}?" if near else ""
        notes.append(f"no rule reads the variable {name}: it is not known to change anything{meant}")
    return tuple(notes)


def notes_of(engine: Engine, model: str, typed: Mapping[str, Value]) -> tuple[str, ...]:
    """A note for a revision that is not here, and one for a draft model that is not known."""
    roles = engine.knowledge.roles
    notes = []
    revision = typed.get(roles.get("revision", ""))
    if revision is not None and _failure(engine, model, str(revision), draft=False):
        notes.append(f"revision {revision} is not here: the values are those of {engine.model(model).where}")
    draft = typed.get(roles.get("draft", ""))
    of_draft = typed.get(roles.get("draft_revision", ""))
    if draft is not None:
        failure = _failure(engine, str(draft), None if of_draft is None else str(of_draft), draft=True)
        if failure:
            notes.append(f"the draft model is not looked into, and nothing here depends on it: {failure}")
    return tuple(notes)


def _failure(engine: Engine, reference: str, revision: str | None, *, draft: bool) -> str:
    try:
        engine.model_facts(reference, draft=draft, revision=revision)
    except InputError as fault:
        return fault.message
    return ""
