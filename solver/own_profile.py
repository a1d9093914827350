"""A file -> a person's own profile, or every fault of it."""

from __future__ import annotations

from pathlib import Path

from constraints.errors import Fault, KnowledgeError
from constraints.evidence import evidence_names
from constraints.knowledge import Knowledge
from constraints.lint import known_names
from constraints.models_schema import ModelKnowledge
from constraints.preferences import Profile
from constraints.profiles import read_profile
from constraints.read import read_file

from .errors import InputError

# What a profile may read beside flags and facts.
_OF_QUESTIONS = ("workload.", "gpu.speed.")


def own_profile(file: Path, knowledge: Knowledge, models: ModelKnowledge) -> Profile:
    """The profile of a file.

    Raises InputError with every fault of it.
    """
    known = known_names(knowledge, models)
    named = {**knowledge.names, **evidence_names(knowledge.evidence, knowledge.names)}
    faults: list[Fault] = []
    profile = None
    try:
        document = read_file(file, str(file))
    except KnowledgeError as error:
        faults += error.faults
    else:
        profile = read_profile(
            document, str(file), named, faults, lambda name: name.startswith(_OF_QUESTIONS) or known(name)
        )
    if profile is None or faults:
        told = "\n".join(str(fault) for fault in sorted(faults))
        hint = "constraints/README.md says what a profile holds."
        raise InputError(told, str(file), hint if file.exists() else "`preflight profiles` lists those that are known.")
    return profile
