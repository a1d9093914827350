"""A config's values -> what no model can have: text for an object, no number for a size, a size beyond all bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from constraints.models_schema import ModelKnowledge
from constraints.values import Value

from .config_view import walk
from .errors import InputError
from .model_input import ModelInput

# No size or count in a config is larger; past this a value is a slip or an attack.
_LARGEST = 10**12


def expect_objects(model: ModelInput, known: ModelKnowledge) -> None:
    """Hold what has to be an object against that, at the top and in its parts.

    Raises InputError.
    """
    parts = {key: value for key, value in model.config.items() if isinstance(value, Mapping)}
    for name, holder in {"": model.config, **parts}.items():
        for key in known.objects:
            value = holder.get(key)
            if value is None or isinstance(value, Mapping) or (key in known.blank and not value):
                continue
            path = f"{name}.{key}" if name else key
            raise InputError(
                f"{path} is {str(value)[:40]}, and has to be an object", model.where, "Fetch the file again."
            )


class Places(NamedTuple):
    """Where values may stand: the file, with its ``config`` as its class reads it, and what is put ``over`` it."""

    file: str
    config: Mapping[str, Any]
    over: Mapping[str, Any]
    over_where: str

    def fault(self, message: str, keys: Sequence[str], hint: str = "Fetch the file again.") -> InputError:
        """What is wrong with the value of ``keys``, said of where it was given."""
        if any(_given(self.over, key) for key in keys):
            return InputError(message, self.over_where, "Correct it there, or leave the key out.")
        return InputError(message, self.file, hint)

    def stated(self, key: str) -> Any:
        """The value that is given for a key."""
        return walk(self.over if _given(self.over, key) else self.config, key.split("."))


def _given(over: Mapping[str, Any], key: str) -> bool:
    return walk(over, key.split(".")) is not None


def expect_sizes(
    facts: Mapping[str, Value], keys: Callable[[str], Sequence[str]], known: ModelKnowledge, places: Places
) -> None:
    """Hold what counts or measures against what a model can have; ``keys``: those that a fact was found under.

    Raises InputError.
    """
    # By a rule, as SGLang does; without such derivations it is for us to say.
    refused: set[Value] = set()
    for name in known.misfits:
        misfits = facts[name]
        refused.update(misfits if isinstance(misfits, tuple) else ())
    for name in known.numbers:
        value = facts[name]
        # Where a value came from is asked of the few that can be wrong.
        if value is None or (type(value) is int and 0 <= value <= _LARGEST):
            continue
        found = keys(name)
        named = ", ".join(key for key in found if key != "architectures") or name
        if refused & {key.rpartition(".")[2] for key in found}:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            shown = list(value) if isinstance(value, tuple) else value
            raise places.fault(f"{named} is {shown!r:.40}, not a number", found, "Write a plain number there.")
        stated = [places.stated(key) for key in found]
        if isinstance(value, float) and any(isinstance(one, float) and one == value for one in stated):
            raise places.fault(f"{named} is {value}, not a whole number", found)
        if not 0 <= value <= _LARGEST:
            size = "more than a trillion" if value > _LARGEST else value
            raise places.fault(f"{named} is {size}, which no model has", found)
    for name in known.positive:
        if facts[name] != 0:
            continue
        zero = [key for key in keys(name) if places.stated(key) == 0]
        if zero and not refused & {key.rpartition(".")[2] for key in zero}:
            raise places.fault(f"{zero[-1]} is 0, which no model has", zero[-1:])
