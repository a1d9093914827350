"""An unpacked SGLang release -> JSON of what its built command-line parser accepts, for `merge_flags.py`.

Run with a Python that can import that SGLang:
``python constraints/sglang/export_flags.py --tree TREE --release 0.5.23 --out flags-0.5.23.json``.
Without a GPU, ``--hook MODULE`` imports a module of yours first, to put fakes in place.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import sys
from pathlib import Path
from typing import Any

# SGLang's converters and Python's, by function name, in the words of flags/*.yaml.
CONVERTERS = {
    "str": ("str", ""),
    "int": ("int", ""),
    "float": ("float", ""),
    "loads": ("json", "json"),
    "json_list_type": ("json", "json_list"),
    "human_readable_int": ("int", "human_readable_int"),
    "nullable_str": ("str", "nullable"),
    "parse_cuda_graph_backend_arg": ("str", "cuda_graph_backend"),
    "parse_cuda_graph_config_arg": ("json", "cuda_graph_config"),
}
ACTIONS = {
    "_StoreAction": "store",
    "_StoreTrueAction": "store_true",
    "_StoreFalseAction": "store_false",
    "_StoreConstAction": "store_const",
    "_AppendAction": "append",
    "_HelpAction": "help",
    "_VersionAction": "version",
    "BooleanOptionalAction": "boolean_optional",
    "LoRAPathAction": "lora_paths",
    "DeprecatedAction": "ignore",  # "refuse" when it carries an error
    "DeprecatedStoreTrueAction": "store_true",
    "DeprecatedStoreConstAction": "store_const",
    "DeprecatedAliasStoreAction": "store",
}


def plain(value: Any) -> Any:
    """``value`` as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):  # a set has no order of its own
        return sorted(plain(item) for item in value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if hasattr(value, "value"):  # an enum
        return plain(value.value)
    raise SystemExit(f"cannot write {value!r} of {type(value).__name__}: teach plain() about it")


def describe_action(action: argparse.Action) -> dict[str, Any]:
    """One parser action, in the words of flags/*.yaml."""
    kind = type(action).__name__
    word = ACTIONS.get(kind)
    if word is None:
        raise SystemExit(f"{action.option_strings}: action {kind} is unknown: teach ACTIONS about it")
    converter = getattr(action.type, "__name__", "str") if action.type else "str"
    if converter not in CONVERTERS:
        raise SystemExit(f"{action.option_strings}: converter {converter} is unknown: teach CONVERTERS about it")
    type_, how = CONVERTERS[converter]
    if word in ("store_true", "store_false", "boolean_optional"):
        type_ = "bool"
    elif word == "store_const" and action.nargs == 0:
        type_ = "bool" if isinstance(getattr(action, "const_value", action.const), bool) else "str"
    elif word == "lora_paths":
        type_ = "list"
    if word == "ignore" and getattr(action, "error_message", None):
        word = "refuse"
    if word == "store_const" and action.nargs != 0:  # takes a value, stores another
        word = "translate"
    if action.dest == "config":  # prepare_server_args replaces it by the file's words before it parses
        word, how = "config_file", config_keys()
    if action.dest == "log_level":  # prepare_server_args looks it up in `logging` once everything is parsed
        how = "log_level"
    return {
        "options": list(action.option_strings),
        "action": word,
        "type": type_,
        "converter": how,
        "nargs": None if action.nargs == 0 else action.nargs,
        "const": plain(getattr(action, "const_value", action.const))
        if word in ("store_const", "translate", "store")
        else None,
        "choices": None if action.choices is None else plain(action.choices),
        "required": action.required,
        "deprecated": kind.startswith("Deprecated"),
        "new_flag": getattr(action, "new_flag", None),
        "keys": graph_keys() if how == "cuda_graph_config" else None,
        "refused": refused_graph_values() if how == "cuda_graph_config" else None,
    }


def config_keys() -> str:
    """Which spellings of a flag the release's --config file may use as a key."""
    for place in ("sglang.srt.utils.server_args_config_parser", "sglang.srt.server_args_config_parser"):
        try:
            module = importlib.import_module(place)
        except ImportError:
            continue
        return "by_spelling" if hasattr(module, "_config_keys") else "by_field"
    raise SystemExit("the reader of --config files is not where it was: teach config_keys() about it")


def graph_keys() -> dict[str, list[str]]:
    """The keys of each phase that --cuda-graph-config takes."""
    module = importlib.import_module("sglang.srt.model_executor.cuda_graph_config")
    return {phase: list(keys) for phase, keys in module.ALLOWED_KEYS_PER_PHASE.items()}


def refused_graph_values() -> dict[str, list[str]] | None:
    """The values of a key that --cuda-graph-config refuses while parsing, by trying each backend's name."""
    module = importlib.import_module("sglang.srt.model_executor.cuda_graph_config")
    check = getattr(module, "parse_cuda_graph_backend_arg", None)
    if check is None:
        return None
    refused = []
    for backend in (value for key, value in vars(module.Backend).items() if key.isupper() and isinstance(value, str)):
        try:
            check(backend)
        except argparse.ArgumentTypeError:
            refused.append(backend)
    return {"backend": refused}


def fields_of(record: Any) -> dict[str, Any]:
    """Each field of ServerArgs with its default (factories called), in order."""
    if dataclasses.is_dataclass(record):
        missing, declared = (dataclasses.MISSING,), dataclasses.fields(record)
    else:
        msgspec = importlib.import_module("msgspec")
        missing, declared = (msgspec.NODEFAULT,), msgspec.structs.fields(record)
    found = {}
    for field in declared:
        if field.default not in missing:
            found[field.name] = plain(field.default)
        elif field.default_factory not in missing:
            found[field.name] = plain(field.default_factory())
        else:
            found[field.name] = None
    return found


def annotations_of(record: Any) -> dict[str, str]:
    """Each field's Python type as text, without its metadata: what a field without a command line may hold."""
    utils = importlib.import_module("sglang.srt.arg_groups.arg_utils")
    typing = importlib.import_module("typing")
    hints = typing.get_type_hints(record, include_extras=True)
    return {name: str(utils._unwrap_annotated(hint)[0]) for name, hint in hints.items()}


def export(release: str) -> dict[str, Any]:
    """Everything the release's parser and its ServerArgs say."""
    module = importlib.import_module("sglang.srt.server_args")
    utils = importlib.import_module("sglang.srt.arg_groups.arg_utils")
    parser = argparse.ArgumentParser()
    module.ServerArgs.add_cli_args(parser)
    defaults = fields_of(module.ServerArgs)
    hints = annotations_of(module.ServerArgs)
    groups = utils.namespace_of(module.ServerArgs)
    flags: dict[str, Any] = {
        name: {"field": True, "group": groups.get(name), "default": default, "hint": hints.get(name), "actions": []}
        for name, default in defaults.items()
    }
    for action in parser._actions:
        flag = flags.setdefault(
            action.dest,
            {"field": False, "group": None, "default": plain_default(action), "hint": None, "actions": []},
        )
        flag["actions"].append(describe_action(action))
    return {"release": release, "flags": flags}


def plain_default(action: argparse.Action) -> Any:
    """The parser's own default of an action that stores into no field."""
    return None if action.default is argparse.SUPPRESS else plain(action.default)


def main() -> None:
    """Read the arguments, import the release, write its JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True, help="folder that holds the sglang package")
    parser.add_argument("--release", required=True)
    parser.add_argument("--out", type=Path, help="left out: standard output")
    parser.add_argument("--hook", action="append", default=[], help="module to import first; may be repeated")
    asked = parser.parse_args()
    for hook in asked.hook:
        importlib.import_module(hook)
    sys.path.insert(0, str(asked.tree))
    text = json.dumps(export(asked.release), indent=1) + "\n"
    if asked.out:
        asked.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
