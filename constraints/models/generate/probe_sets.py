"""A release -> its sets of architectures and config classes (models-sets-RELEASE.json)."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, under the oracle's fakes ($ORACLE, the folder of hardware.py and stubs.py); outputs go to
# $OUT (default: models-generate in the current folder). Order: probe_classes.py and probe_sets.py for each release, write_sets.py, write_classes.py.
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
OUT = os.environ.get("OUT", "models-generate")
os.makedirs(OUT, exist_ok=True)
import json, ast, re, sgl
from pathlib import Path

v = sys.argv[1]
sgl.setup(v)
from types import SimpleNamespace as NS
import sglang.srt.configs.model_config as mc
from sglang.srt.arg_groups import overrides as ov
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from sglang.srt.utils.hf_transformers import common

root = Path(mc.__file__).parents[1]
supported = set()
for f in (root / "models").rglob("*.py"):
    t = ast.parse(f.read_text(encoding="utf-8-sig"))
    for n in t.body:
        if isinstance(n, (ast.Assign, ast.AnnAssign)):
            tg = n.targets if isinstance(n, ast.Assign) else [n.target]
            if any(isinstance(x, ast.Name) and x.id == "EntryClass" for x in tg):
                for x in ast.walk(n.value):
                    if isinstance(x, ast.Name):
                        supported.add(x.id)
universe = set(supported)
for f in [
    *root.joinpath("arg_groups").rglob("*.py"),
    root / "server_args.py",
    *root.joinpath("configs").rglob("*.py"),
    *root.joinpath("layers/attention").glob("*.py"),
    *root.joinpath("speculative").rglob("*.py"),
]:
    for n in ast.walk(ast.parse(f.read_text(encoding="utf-8-sig"))):
        if (
            isinstance(n, ast.Constant)
            and isinstance(n.value, str)
            and re.fullmatch(
                r"[A-Z]\w*(For[A-Z]\w+|Model|MTP|NextN|MiniCPM\w*|_V2|_V3|DSpark|Weights)|MiniCPM[VO]|Contriever",
                n.value,
            )
        ):
            universe.add(n.value)
U = sorted(universe)


def pick(fn):
    out = []
    for a in U:
        try:
            if fn(a):
                out.append(a)
        except Exception as e:
            pass
    return out


class C(NS):
    def __getattr__(self, k):
        return None


S = {"supported": sorted(supported)}
S["embedding_only"] = pick(lambda a: not mc.is_generation_model([a]))
for n in (
    "is_multimodal_model",
    "is_audio_model",
    "is_encoder_decoder_model",
    "is_local_attention_model",
    "is_piecewise_cuda_graph_disabled_model",
    "is_multimodal_piecewise_cuda_graph_supported",
    "is_multimodal_breakable_cuda_graph_supported",
):
    S[n.removeprefix("is_").removesuffix("_model").removesuffix("_supported")] = pick(lambda a: getattr(mc, n)([a]))
S["no_multimodal_chunked_prefill"] = pick(lambda a: not mc.is_multimodal_chunked_prefill_supported([a]))
S["hybrid_swa"] = pick(lambda a: mc.is_hybrid_swa_model([a], None))
mk = lambda a: dict(architectures=[a], index_topk=1)
S["deepseek_dsa"] = pick(lambda a: mc.is_deepseek_dsa(mk(a)))
for n in ("is_deepseek_v4", "is_kimi_k3", "is_glm_moe_dsa", "is_dspark_draft", "is_qwen3_5", "is_qwen4_exp"):
    if hasattr(mc, n):
        S[n.removeprefix("is_")] = pick(lambda a: getattr(mc, n)(mk(a)))
S["minimax_sparse"] = pick(lambda a: mc.is_minimax_sparse(NS(architectures=[a])))
S["mamba_radix_cache"] = sorted(ov._MAMBA_RADIX_CACHE_ARCHS)
S["mamba_extra_buffer"] = sorted(getattr(ov, "_MAMBA_EXTRA_BUFFER_ARCHS", ()))
S["deepseek_family"] = sorted(getattr(ov, "_DEEPSEEK_FAMILY_ARCHS", ()))
S["cross_encoding_pooler"] = pick(lambda a: mc.is_cross_encoding_pooler_model([a]))
# attention_arch of each architecture, given every MLA key
import torch


class Any_(NS):
    def __getattr__(self, k):
        raise AttributeError(k)


def shape(a, lora=True):
    m = object.__new__(mc.ModelConfig)
    c = Any_(
        architectures=[a],
        model_type="x",
        hidden_size=640,
        num_attention_heads=4,
        num_hidden_layers=2,
        vocab_size=10,
        head_dim=96,
        qk_rope_head_dim=64,
        qk_nope_head_dim=128,
        v_head_dim=80,
        kv_lora_rank=512,
        rope_scaling=None,
        sliding_window=4,
        index_head_dim=8,
        compress_ratios=[1],
        index_topk=1,
        vision_vocab_size=5,
        quantization_config=None,
    )
    if not lora:
        del c.kv_lora_rank
    m.hf_config = m.hf_text_config = c
    m.is_draft_model = False
    m._derive_model_shapes()
    return (
        m.attention_arch.name,
        m.head_dim,
        m.v_head_dim,
        getattr(m, "qk_nope_head_dim", None),
        getattr(m, "kv_lora_rank", None),
        m.num_attention_layers,
    )


import collections

G = collections.defaultdict(list)
for a in U:
    try:
        G[str(shape(a))].append(a)
    except Exception as e:
        G["ERR %r" % e].append(a)
S["_shapes"] = {k: x for k, x in G.items() if len(x) < 60}
G2 = collections.defaultdict(list)
for a in U:
    try:
        G2[str(shape(a, False))].append(a)
    except Exception as e:
        G2["ERR %r" % e].append(a)
S["_shapes_nolora"] = {k: x for k, x in G2.items() if len(x) < 60}
# config classes
from sglang.srt.configs import hybrid_arch as ha


def types(*names):
    cs = tuple(getattr(ha, n) for n in names if hasattr(ha, n))
    return sorted(
        t
        for t in set(CONFIG_MAPPING.keys()) | set(common._CONFIG_REGISTRY)
        if cs and issubclass(common._CONFIG_REGISTRY.get(t) or CONFIG_MAPPING[t], cs)
    )


m2 = ["FalconH1Config", "NemotronHConfig", "Lfm2Config", "Lfm2MoeConfig", "Lfm2VlConfig", "ZayaConfig"] + (
    ["Mamba2Config", "MambaConfig", "FalconMambaConfig"]
)
S["type_mamba2"] = types(*m2)
S["type_gdn"] = types(
    "Qwen3NextConfig", "Qwen3_5Config", "Qwen3_5MoeConfig", "InternS2PreviewConfig", "JetNemotronConfig", "JetVLMConfig"
)
S["type_kimi_linear"] = types("KimiLinearConfig")
S["type_bailing_hybrid"] = types("BailingHybridConfig")
S["type_minicpm_hybrid"] = types("MiniCPMHybridConfig")
S["type_inkling"] = types("InklingModelConfig", "InklingMMConfig")
S["type_nemotron_vl"] = types("NemotronH_Nano_VL_V2_Config")
S["type_nemotron_h"] = types("NemotronHConfig")
S["type_granite_hybrid"] = types("GraniteMoeHybridConfig")
from sglang.srt.configs import linear_attn_model_registry as R

S["_registry"] = [
    (
        s.config_class.__name__,
        s.arch_names,
        s.uses_mamba_radix_cache,
        s.support_mamba_cache_extra_buffer,
        s.unwrap_text_config,
    )
    for s in R._LINEAR_ATTN_MODEL_REGISTRY
]
S["known_types"] = sorted(set(CONFIG_MAPPING.keys()) | set(common._CONFIG_REGISTRY))
S["quantization"] = sorted(mc.QUANTIZATION_METHODS)
json.dump(S, open(f"{OUT}/models-sets-{v}.json", "w"), indent=0)
for k, x in S.items():
    print(k, len(x), x if len(str(x)) < 600 else "")
