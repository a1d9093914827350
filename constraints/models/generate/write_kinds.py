"""kinds-RELEASE.json of every release -> constraints/models/kinds/keys.yaml: the kind of value each key holds."""

# mypy: ignore-errors
# ruff: noqa
# Usage: write_kinds.py kinds-*.json
import json, re, sys, textwrap
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from constraints.models_load import ROOT, load_models
from constraints.release import release_key

TEXTS = "\n".join(
    path.read_text() for folder in ("facts", "families", "defaults") for path in ROOT.glob(f"{folder}/*.yaml")
)
READ = set(re.findall(r"\b(?:config|text|vision_config|text_config)\.([a-zA-Z_0-9]+)", TEXTS))
# What every class has; some facts read them under other names.
BASE = {"architectures", "hidden_act", "layer_types", "rope_parameters", "vocab_size", "tie_word_embeddings"}
BASE |= {"use_sliding_window", "max_window_layers", "final_logit_softcapping", "attn_logit_softcapping"}
# Parts and dtypes are judged where they are read.
LEFT = {"dtype", "model_type", "attn_config"}
# Declared by so many classes, a key stands in configs of every kind.
MANY = 12
# What is read before a class is, or as an object whatever the class; `blank`: what is empty counts as null.
BY_HAND = """\
  auto_map: {kind: object}
  compression_config: {kind: object}
  full_attention_interval: {kind: whole, never_null: true, above_zero: true}
  hf_quant_config: {kind: object}
  hf_quant_config.quantization: {kind: object}
  hf_quant_config.quantization.quant_algo: {kind: text}
  hybrid_override_pattern: {kind: text}
  id2label: {kind: object}
  linear_attn_config: {kind: object}
  model_type: {kind: text}
  quantization_config: {kind: object}
  quantization_config.quant_method: {kind: text, never_null: true}
  torch_dtype: {kind: number|object|text|truth|whole}
  rope_scaling: {kind: object, blank: true}
  rope_scaling.original_max_position_embeddings: {kind: number|whole}
""".splitlines()

declared: dict[str, dict[str, set]] = {}
own: dict[str, set] = {}
known = {}
for path in sorted(sys.argv[1:]):
    release = re.search(r"kinds-(.+)\.json", path)[1]
    known[release] = load_models(release).classes
    for name, data in json.loads(Path(path).read_text()).items():
        own[name] = own.get(name, set()) | set(data["own"])
        for key, kinds in data["keys"].items():
            declared.setdefault(key, {}).setdefault(name, set()).update(kinds or ["any"])
newest = max(known, key=release_key)

rows = list(BY_HAND)
for key, classes in sorted(declared.items()):
    if key in LEFT or not (key in READ or key in BASE or sum(key in own[name] for name in classes) >= MANY):
        continue
    counts = Counter(frozenset(kinds - {"null"}) for name, kinds in classes.items())
    if frozenset(["any"]) in counts or not (usual := counts.most_common(1)[0][0]):
        continue
    other = {}
    for name, kinds in classes.items():
        if (mine := frozenset(kinds - {"null"})) and mine != usual and name in known[newest]:
            other.setdefault("|".join(sorted(mine)), []).append(name)
    nullable = sorted(
        name
        for name, kinds in classes.items()
        if "null" in kinds and name in known[newest] and known[newest][name].values.get(key) is not None
    )
    if key in {row.split(":")[0].strip() for row in BY_HAND}:
        continue
    entry = [f"kind: {'|'.join(sorted(usual))}"]
    if nullable:
        entry.append(f"nullable: [{', '.join(nullable)}]")
    if other:
        said = (f"{kinds}: [{', '.join(sorted(names))}]" for kinds, names in sorted(other.items()))
        entry.append(f"other: {{{', '.join(said)}}}")
    rows.append(f"  {key}: {{{', '.join(entry)}}}")
loose = sorted({name for classes in known.values() for name in classes if not own.get(name)})
text = (
    "# Written by constraints/models/generate from the declarations of config classes. Keys: constraints/README.md.\n"
    "# A class is `loose` when it declares no key of its own, or nobody asked it.\n"
    "loose:\n"
    + textwrap.fill(f"[{', '.join(loose)}]", 120, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    + "\n# A list that has as many members as another key says.\ncounts: {layer_types: num_hidden_layers}"
    + "\nkinds:\n"
    + "\n".join(
        textwrap.fill(row, 120, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
        for row in sorted(rows)
    )
    + "\n"
)
(ROOT / "kinds" / "keys.yaml").write_text(text)
print(len(rows), "keys", len(text), "characters")
