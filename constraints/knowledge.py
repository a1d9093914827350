"""`Knowledge`: what the files say of one release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .gpu_schema import Gpus
from .preferences import Choosable, Evidence, Profile
from .schema import Elsewhere, EnvVar, Flags, Operation, Release, Rule, Step
from .tree import Node

# Where the files of the knowledge stand.
HOME = Path(__file__).resolve().parent


class Knowledge(NamedTuple):
    """All that is known of one release.

    ``program`` is its resolution in order; ``names`` the shared expressions; ``elsewhere`` options of other releases.
    ``outcomes`` are flags whose ends a term may read together, ``apart`` what tells two recommendations apart.
    """

    release: str
    releases: Mapping[str, Release]
    flags: Flags
    elsewhere: Mapping[str, Elsewhere]
    environment: Mapping[str, EnvVar]
    names: Mapping[str, Node]
    steps: Mapping[str, Step]
    rules: Mapping[str, Rule]
    program: tuple[Operation, ...]
    gpus: Gpus
    roles: Mapping[str, str]
    variables: tuple[Choosable, ...]
    measures: frozenset[str]
    outcomes: frozenset[str]
    apart: Mapping[str, Node]
    evidence: tuple[Evidence, ...]
    profiles: Mapping[str, Profile]
