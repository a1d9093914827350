"""The files under ``models/`` -> what is known of models in one release, and the catalogue of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .compose import Compiled
from .errors import ExpressionError, Fault, KnowledgeError
from .expression import parse
from .models_gguf import headers_of
from .models_schema import Catalogue, Checkpoint, ConfigClass, Derivation, DraftRole, GgufHeader, ModelKnowledge
from .packed import Packed
from .read import Mapped, read_file, without_lines
from .release import Span, release_key
from .tree import Const, Node, names

ROOT = Path(__file__).parent / "models"
# Where a derivation reads, other than in derivations.
_ROOTS = ("config.", "text.", "own.", "stated.", "has.", "kind.", "misfits.")


def load_models(release: str, root: Path = ROOT) -> ModelKnowledge:
    """All that is known of models in ``release``.

    Raises KnowledgeError with every fault of every file.
    """
    reader = _Reader(release, root)
    for file, document in reader.documents("families"):
        reader.sets_of(file, document)
    for file, document in reader.documents("defaults"):
        reader.classes_of(file, document)
    reader.check_types()
    for file, document in reader.documents("facts"):
        reader.facts_of(file, document)
    for file, document in reader.documents("gguf"):
        reader.headers |= headers_of(file, document, release, reader.faults)
    return reader.result()


def load_catalogue(root: Path = ROOT) -> Catalogue:
    """The well-known checkpoints.

    Raises KnowledgeError with every fault.
    """
    faults: list[Fault] = []
    document = read_file(root / "catalogue.yaml", "models/catalogue.yaml")
    checkpoints: list[Checkpoint] = []
    spellings: dict[str, Checkpoint] = {}
    configs: dict[str, str] = {}
    for name, data in document["checkpoints"].items():
        checkpoint = Checkpoint(
            name,
            str(data["file"]),
            tuple(data.get("aliases") or ()),
            data.get("parameters"),
            data.get("draft_of"),
            tuple(data.get("quantized") or ()),
            str(data.get("about", "")),
        )
        path = root / "catalogue" / checkpoint.file
        if not path.is_file():
            faults.append(Fault("models/catalogue.yaml", data.line, f"{name}: there is no catalogue/{checkpoint.file}"))
        elif checkpoint.file not in configs:
            configs[checkpoint.file] = path.read_text(encoding="utf-8")
        for spelling in (name, *checkpoint.aliases):
            if spelling.lower() in spellings:
                faults.append(Fault("models/catalogue.yaml", data.line, f"{spelling} stands for two checkpoints"))
            spellings[spelling.lower()] = checkpoint
        checkpoints.append(checkpoint)
    if faults:
        raise KnowledgeError(faults)
    return Catalogue(tuple(checkpoints), spellings, configs)


class _Reader:
    """Gathers the knowledge of one release; faults of all files gather in ``faults``."""

    def __init__(self, release: str, root: Path) -> None:
        self.release = release
        self.root = root
        self.faults: list[Fault] = []
        self.named: dict[str, Node] = {}
        self.sets: dict[str, tuple[str, ...]] = {}
        self.classes: dict[str, ConfigClass] = {}
        self.drafts: list[DraftRole] = []
        self.derivations: dict[str, Derivation] = {}
        self.text_paths: tuple[tuple[str, ...], ...] = ()
        self.text_at_top = Compiled(Const(False))
        self.choices: list[tuple[Compiled, str]] = []
        self.types: Mapping[str, Any] = {}
        self.unchecked: set[str] = set()
        self.required: dict[str, frozenset[str]] = {}
        self.numbers: tuple[str, ...] = ()
        self.positive: tuple[str, ...] = ()
        self.objects: tuple[str, ...] = ()
        self.blank: tuple[str, ...] = ()
        self.text_objects: tuple[str, ...] = ()
        self.read_objects: tuple[str, ...] = ()
        self.misfits: tuple[str, ...] = ()
        self.headers: dict[str, GgufHeader] = {}

    def documents(self, folder: str) -> Iterator[tuple[str, Mapped]]:
        """Each file of a folder that holds for the release, with its name in faults."""
        for path in sorted((self.root / folder).glob("*.yaml")):
            file = f"models/{folder}/{path.name}"
            try:
                document = read_file(path, file)
            except KnowledgeError as fault:
                self.faults += fault.faults
                continue
            if isinstance(document, Mapped) and self._holds(document):
                yield file, document

    def sets_of(self, file: str, document: Mapped) -> None:
        """Sets of architectures (``family.NAME`` in expressions) and the roles of drafts."""
        for name, data in (document.get("sets") or {}).items():
            members = list(data.get("members") or ())
            for release, added in (data.get("added") or {}).items():
                if release_key(self.release) >= release_key(release):
                    members += added
            for release, removed in (data.get("removed") or {}).items():
                if release_key(self.release) >= release_key(release):
                    members = [member for member in members if member not in removed]
            for whole in data.get("sets") or ():
                members += self.sets.get(whole, ())
            if len(set(members)) != len(members):
                twice = sorted({member for member in members if members.count(member) > 1})
                self._fault(file, data.line, f"the set {name} holds {', '.join(twice)} twice")
            self.sets[name] = tuple(sorted(members))
            self.named[f"family.{name}"] = Const(self.sets[name])
        for data in document.get("drafts") or ():
            if self._holds(data):
                self.drafts.append(
                    DraftRole(
                        tuple(data["architectures"]),
                        str(data["becomes"]),
                        bool(data.get("unwrap")),
                        self._run(file, data.line, data["when"]) if "when" in data else None,
                        self._runs(file, data, "config"),
                        self._runs(file, data, "text"),
                    )
                )

    def classes_of(self, file: str, document: Mapped) -> None:
        """Config classes; a later file adds to or replaces parts of what an earlier one says of a class."""
        self.types = document.get("types") or self.types
        self.required |= {name: frozenset(keys) for name, keys in (document.get("required") or {}).items()}
        for data in document.get("choose") or ():
            if self._holds(data):
                self.choices.append((self._run(file, data.line, data["when"]), str(data["class"])))
        for name, data in (document.get("classes") or {}).items():
            if data is None:
                self.classes.pop(name, None)
                continue
            if not self._holds(data):
                continue
            if data.get("unchecked"):
                self.unchecked.add(name)
            base = (None if data.get("replace") else self.classes.get(str(data.get("like", name)))) or ConfigClass(name)
            self.classes[name] = ConfigClass(
                name,
                str(data.get("kind", base.kind or name)),
                {**base.values, **without_lines(data.get("set") or {})},
                {**base.aliases, **(data.get("alias") or {})},
                {**base.follow, **self._runs(file, data, "follow")},
                {**base.force, **self._runs(file, data, "force")},
                {**base.lift, **{key: tuple(str(path).split(".")) for key, path in (data.get("lift") or {}).items()}},
                {**base.parts, **(data.get("parts") or {})},
                base.own | frozenset(data.get("own") or ()),
                base.empty | frozenset(data.get("empty") or ()),
                bool(data.get("flat", base.flat)),
                {**base.fold, **without_lines(data.get("fold") or {})},
                bool(data.get("inherits", base.inherits)),
                lenient=bool(data.get("lenient", base.lenient)),
            )

    def check_types(self) -> None:
        """Classes compare types, but for those that are ``unchecked``; ``nullable`` and ``untyped`` name exceptions.

        ``validated`` are the unchecked ones that compare layers and positions.
        """
        for name, cls in self.classes.items():
            if keys := self.required.get(name, self.required.get(cls.kind)):
                self.classes[name] = cls._replace(required=keys)
        if not self.types:
            return
        loose: dict[str, dict[str, set[str]]] = {"nullable": {}, "untyped": {}}
        for kind, found in loose.items():
            for key, classes in (self.types.get(kind) or {}).items():
                for name in classes:
                    found.setdefault(name, set()).add(key)
        unchecked = self.unchecked | set(self.types.get("unchecked") or ())
        for name in unchecked & set(self.types.get("validated") or ()) & self.classes.keys():
            self.classes[name] = self.classes[name]._replace(validated=True)
        for name in self.classes.keys() - unchecked:
            nullable, untyped = (frozenset(found.get(name, ())) for found in loose.values())
            self.classes[name] = self.classes[name]._replace(
                checked=True, validated=True, nullable=nullable, untyped=untyped
            )

    def facts_of(self, file: str, document: Mapped) -> None:
        """Derivations, and where the text part of a config stands."""
        self.numbers += tuple(document.get("numbers") or ())
        self.positive += tuple(document.get("positive") or ())
        self.objects += tuple(document.get("objects") or ())
        self.blank += tuple(document.get("blank") or ())
        self.text_objects += tuple(document.get("text_objects") or ())
        self.read_objects += tuple(document.get("read_objects") or ())
        self.misfits += tuple(document.get("misfits") or ())
        if "text_paths" in document:
            self.text_paths = tuple(tuple(path.split(".")) for path in document["text_paths"])
            self.text_at_top = self._run(file, document.line_of("text_at_top"), document["text_at_top"])
        for name, data in (document.get("facts") or {}).items():
            line = document["facts"].line_of(name)
            if not isinstance(data, Mapped):
                data = {"is": data}
            chosen = next((part for part in data.get("revisions") or () if self._holds(part)), data)
            if "is" not in chosen or (chosen is data and not self._holds(data)):
                continue
            if name in self.derivations:
                self._fault(file, line, f"the fact {name} is derived twice")
            node = self._node(file, line, str(chosen["is"]))
            self.derivations[name] = Derivation(name, Compiled(node), str(data.get("about", "")), file, line)

    def result(self) -> ModelKnowledge:
        """The knowledge, or every fault."""
        if not self.text_paths:
            self._fault("models/facts", 1, "no file says where the text part of a config stands (text_paths)")
        self._names_and_cycles()
        if self.faults:
            raise KnowledgeError(self.faults)
        return ModelKnowledge(
            self.release,
            self.derivations,
            self.sets,
            Packed(self.classes),
            tuple(self.drafts),
            self.text_paths,
            self.text_at_top,
            tuple(self.choices),
            self.numbers,
            self.headers,
            self.positive,
            self.objects,
            self.blank,
            self.text_objects,
            self.read_objects,
            self.misfits,
        )

    def _names_and_cycles(self) -> None:
        reads = {name: names(part.run.node) for name, part in self.derivations.items()}
        settled: dict[str, bool] = {}  # False while its parts are visited

        def visit(name: str) -> None:
            part = self.derivations[name]
            if settled.setdefault(name, False):
                return
            for read in sorted(reads[name]):
                if read.startswith(("model.", "part.")):
                    if read not in reads:
                        self._fault(part.file, part.line, f"{name} reads {read}, which nothing derives")
                    elif settled.get(read) is False:
                        self._fault(part.file, part.line, f"{name} and {read} are derived from one another")
                    else:
                        visit(read)
                elif not read.startswith(_ROOTS) and read != "is_draft":
                    self._fault(part.file, part.line, f"{name} reads {read}, which is no fact and no config key")
            settled[name] = True

        for name in reads:
            visit(name)

    def _holds(self, data: Mapping[str, Any]) -> bool:
        since, until = data.get("since"), data.get("until")
        return self.release in Span(since and str(since), until and str(until))

    def _node(self, file: str, line: int, text: str) -> Node:
        try:
            return parse(text, self.named)
        except ExpressionError as fault:
            self._fault(file, line, str(fault))
            return Const(None)

    def _run(self, file: str, line: int, text: object) -> Compiled:
        return Compiled(self._node(file, line, str(text)))

    def _runs(self, file: str, data: Mapped, key: str) -> dict[str, Compiled]:
        part = data.get(key) or Mapped(0)
        return {name: self._run(file, part.line_of(name), text) for name, text in part.items()}

    def _fault(self, file: str, line: int, message: str) -> None:
        self.faults.append(Fault(file, line, message))
