"""The probes of both releases -> constraints/models/families/{architectures,supported,types}.yaml."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, under the oracle's fakes ($ORACLE, the folder of hardware.py and stubs.py); outputs go to
# $OUT (default: models-generate in the current folder). Order: probe_classes.py and probe_sets.py for each release, write_sets.py, write_classes.py.
import json, os

OUT = os.environ.get("OUT", "models-generate")
A = json.load(open(OUT + "/models-sets-0.5.18.json"))
B = json.load(open(OUT + "/models-sets-0.5.23.json"))
about = {
    "supported": "Architectures SGLang has a model class for (EntryClass in models/).",
    "embedding_only": "Never generate (is_generation_model).",
    "multimodal": "Take more than text (multimodal_model_archs).",
    "audio": "Are sound models (is_audio_model).",
    "encoder_decoder": "Attend to an encoder (is_encoder_decoder_model).",
    "local_attention": "Attend in chunks (is_local_attention_model).",
    "piecewise_cuda_graph_disabled": "No piecewise CUDA graph for prefill.",
    "multimodal_piecewise_cuda_graph": "Multimodal, yet prefill may be captured piecewise.",
    "multimodal_breakable_cuda_graph": "Multimodal, yet prefill may be captured breakably.",
    "no_multimodal_chunked_prefill": "No chunked prefill with media.",
    "hybrid_swa": "Window and full layers with separate pools (is_hybrid_swa_model).",
    "deepseek_dsa": "DeepSeek sparse attention where index_topk is set (is_deepseek_dsa).",
    "deepseek_v4": "is_deepseek_v4.",
    "kimi_k3": "is_kimi_k3.",
    "glm_moe_dsa": "is_glm_moe_dsa.",
    "dspark_draft": "is_dspark_draft.",
    "qwen3_5": "is_qwen3_5.",
    "qwen4_exp": "is_qwen4_exp.",
    "minimax_sparse": "is_minimax_sparse.",
    "mamba_radix_cache": "The radix cache keeps their states (_MAMBA_RADIX_CACHE_ARCHS).",
    "mamba_extra_buffer": "Support the extra_buffer strategy (_MAMBA_EXTRA_BUFFER_ARCHS).",
    "deepseek_family": "Get the DeepSeek overrides (_DEEPSEEK_FAMILY_ARCHS).",
    "cross_encoding_pooler": "Score pairs (is_cross_encoding_pooler_model).",
    "type_mamba2": "model_type of the classes mamba2_config accepts.",
    "type_gdn": "model_type of the classes hybrid_gdn_config accepts.",
    "type_nemotron_vl": "Nemotron VL, whose language part is Nemotron-H.",
    "type_nemotron_h": "Nemotron-H.",
    "type_granite_hybrid": "Granite hybrid.",
    "type_inkling": "Inkling, text alone or with media.",
    "type_minicpm_hybrid": "MiniCPM with lightning layers.",
    "quantization": "Methods of --quantization that ModelConfig knows on NVIDIA.",
}
import textwrap


def flow(xs, ind):
    t = textwrap.wrap(", ".join(xs), 112 - ind, break_long_words=False)
    return "[" + ("\n" + " " * ind).join(t) + "]"


def block(names, head):
    out = [head, "sets:"]
    for n in names:
        a, b = set(A.get(n, [])), set(B.get(n, []))
        if n in ("glm_moe_dsa", "dspark_draft"):
            a = a or b
        out.append(f"  {n}:\n    about: {about[n]}")
        keep = sorted(a)
        if keep or not b:
            out.append("    members: " + flow(keep, 15))
        if b - a:
            out.append('    added:\n      "0.5.23": ' + flow(sorted(b - a), 17))
        if a - b:
            out.append('    removed:\n      "0.5.23": ' + flow(sorted(a - b), 17))
    return "\n".join(out) + "\n"


R = str(__import__("pathlib").Path(__file__).parents[3] / "constraints/models/families") + "/"
names = [n for n in B if not n.startswith("_") and n != "known_types"]
types = [n for n in names if n.startswith("type_") and n in about]
rest = [n for n in names if not n.startswith("type_") and n not in ("supported",)]
gen = "# Written by constraints/models/generate from the releases; `added` and `removed` name the first release that was read with the change."
open(R + "architectures.yaml", "w").write(block(rest, gen))
open(R + "supported.yaml", "w").write(block(["supported"], gen))
open(R + "types.yaml", "w").write(block(types, gen))
