"""Folders with a config.json -> attributes of the real ModelConfig, to compare our facts with."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, under the oracle's fakes ($ORACLE, the folder of hardware.py and stubs.py); outputs go to
# $OUT (default: models-generate in the current folder). Order: probe_classes.py and probe_sets.py for each release, write_sets.py, write_classes.py.
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
OUT = os.environ.get("OUT", "models-generate")
os.makedirs(OUT, exist_ok=True)
import json, os, sgl, traceback

v, out, *dirs = sys.argv[1:]
draft = dirs and dirs[0] == "--draft"
if draft:
    dirs = dirs[1:]
sgl.setup(v)
import torch
import sglang.srt.configs.model_config as mc
from sglang.srt.configs import hybrid_arch as ha
from sglang.srt.configs.model_config import ModelConfig
from sglang.srt.arg_groups import overrides as ov

try:
    from sglang.srt.arg_groups import attention_hook
except Exception:
    pass
MISSING = object()


def plain(x):
    if isinstance(x, torch.dtype):
        return str(x).replace("torch.", "")
    if isinstance(x, (str, int, float, bool, type(None))):
        return x
    if isinstance(x, (list, tuple)):
        return [plain(i) for i in x]
    if isinstance(x, dict):
        return sorted(map(str, x))
    if hasattr(x, "name") and hasattr(x, "value"):
        return x.name
    return "<%s>" % type(x).__name__


MC = """head_dim v_head_dim swa_head_dim swa_v_head_dim attention_arch kv_lora_rank qk_nope_head_dim qk_rope_head_dim swa_kv_lora_rank swa_qk_rope_head_dim
index_head_dim num_attention_heads num_key_value_heads first_k_dense_replace full_attention_interval hidden_size spec_hidden_size hc_hidden_size
num_hidden_layers num_attention_layers num_nextn_predict_layers vocab_size context_len attention_chunk_size sliding_window_size is_generation
is_multimodal is_audio_model is_image_understandable_model is_audio_understandable_model is_multimodal_chunked_prefill_supported is_encoder_decoder
is_local_attention_model use_ngram_embedding use_engram is_piecewise_cuda_graph_disabled_model is_multimodal_piecewise_cuda_graph_supported
is_multimodal_breakable_cuda_graph_supported is_hybrid_swa is_hybrid_swa_compress has_attention_sinks has_asymmetric_kv is_fp4_experts
is_lm_only model_is_mrope image_token_id is_embedding_gemma requires_mm_token_modalities swa_attention_layer_ids full_attention_layer_ids
compress_ratios window_size scaling quantization is_deepseek_v4_arch""".split()
TEXT = """intermediate_size moe_intermediate_size num_experts n_routed_experts num_local_experts moe_num_experts num_experts_per_tok n_shared_experts num_shared_experts
moe_layer_freq q_lora_rank index_topk index_n_heads index_topk_freq index_topk_pattern index_skip_topk_offset cli_factor
linear_num_key_heads linear_num_value_heads linear_key_head_dim linear_value_head_dim linear_conv_kernel_dim
tie_word_embeddings layer_types hybrid_layer_pattern swa_num_key_value_heads swa_num_attention_heads learnable_sink is_causal
n_group topk_group mamba_num_heads mamba_head_dim ssm_state_size conv_kernel mamba_ssm_dtype num_attention_heads_per_layer mlp_only_layers decoder_sparse_step
shared_expert_intermediate_size hc_mult model_type""".split()


def facts(m):
    f = {}
    for k in MC:
        f[k] = plain(getattr(m, k, None))
    f["dtype"] = plain(m.dtype)
    hf, tx = m.hf_config, m.hf_text_config
    f["architecture"] = hf.architectures[0]
    f["model_type"] = hf.model_type
    for k in TEXT:
        f["text." + k] = plain(getattr(tx, k, None))
    f["total_num_kv_heads"] = m.get_total_num_kv_heads()
    for tp in (1, 8):
        f[f"num_kv_heads_{tp}"] = m.get_num_kv_heads(tp)
    try:
        f["swa_num_kv_heads_1"] = m.get_swa_num_kv_heads(1)
    except Exception as e:
        f["swa_num_kv_heads_1"] = "error " + type(e).__name__
    f["is_deepseek_dsa"] = mc.is_deepseek_dsa(hf)
    f["text_is_deepseek_dsa"] = mc.is_deepseek_dsa(tx)
    f["is_deepseek_v4"] = mc.is_deepseek_v4(hf)
    f["is_minimax_sparse"] = mc.is_minimax_sparse(hf)
    for n in (
        "is_qwen3_5",
        "is_qwen_qsa",
        "is_kimi_k3",
        "uses_kda_attention",
        "is_qwen4_exp",
        "is_glm_moe_dsa",
        "is_dspark_draft",
    ):
        fn = getattr(mc, n, None)
        if fn:
            try:
                f[n] = bool(fn(hf))
            except Exception as e:
                f[n] = "error"
    f["num_indexer_layers"] = mc.get_num_indexer_layers(hf)
    kinds = []
    for n, label in (
        ("mamba2_config", "mamba2"),
        ("hybrid_gdn_config", "gdn"),
        ("hybrid_kda_config" if hasattr(ha, "hybrid_kda_config") else "kimi_linear_config", "kda"),
        ("hybrid_lightning_config", "lightning"),
        ("linear_attn_model_spec", "registered"),
    ):
        try:
            if getattr(ha, n)(m) is not None:
                kinds.append(label)
        except Exception as e:
            kinds.append(label + " error " + type(e).__name__ + str(e)[:80])
    f["linear_kinds"] = kinds
    c = None
    try:
        c = ha.mambaish_config(m)
    except Exception as e:
        f["mamba_error"] = repr(e)[:100]
    f["linear_layers"] = f["full_layers"] = None
    if c is not None:
        for k, n in (("linear_layers", "linear_layer_ids"), ("full_layers", "full_attention_layer_ids")):
            try:
                f[k] = plain(list(getattr(c, n)))
            except Exception as e:
                f[k] = None
        try:
            p = c.mamba2_cache_params
            s = p.shape
            f["mamba_layers"] = plain(list(p.layers))
            f["mamba_conv_shape"] = plain(s.conv)
            f["mamba_temporal_shape"] = plain(s.temporal)
            f["mamba_dtypes"] = [plain(p.dtype.conv), plain(p.dtype.temporal)]
        except Exception as e:
            f["mamba_params_error"] = repr(e)[:120]
    f["mamba_chunk_size"] = plain(getattr(hf, "mamba_chunk_size", None))
    arch = hf.architectures[0]
    from sglang.srt.configs.linear_attn_model_registry import get_linear_attn_spec_by_arch

    in_branch = arch in ov._MAMBA_RADIX_CACHE_ARCHS if hasattr(ov, "_MAMBA_RADIX_CACHE_ARCHS") else None
    if arch == "GraniteMoeHybridForCausalLM":
        in_branch = any(t == "mamba" for t in getattr(hf, "layer_types", []))
    try:
        from sglang.srt.configs.linear_attn_model_registry import get_linear_attn_spec

        spec = get_linear_attn_spec(hf)
    except ImportError:
        spec = get_linear_attn_spec_by_arch(arch)
    f["uses_mamba_radix_cache"] = (
        bool(in_branch or (spec is not None and spec.uses_mamba_radix_cache)) if in_branch is not None else None
    )
    vc = getattr(hf, "vision_config", None)
    f["vision_num_hidden_layers"] = plain(getattr(vc, "num_hidden_layers", 24)) if vc is not None else None
    f["vision_hidden_size"] = plain(getattr(vc, "hidden_size", 1024)) if vc is not None else None
    rs = getattr(tx, "rope_parameters", None) or getattr(tx, "rope_scaling", None)
    if isinstance(rs, dict):
        f["rope_type"] = rs.get("rope_type") or rs.get("type")
        f["rope_factor"] = rs.get("factor")
    else:
        f["rope_type"] = f["rope_factor"] = None
    q = getattr(hf, "quantization_config", None)
    f["has_quantization_config"] = q is not None
    p = m._parse_quant_hf_config()
    f["quant_method"] = p.get("quant_method") if p else None
    f["nvfp4_moe"] = getattr(m, "nvfp4_moe_meta", None) is not None
    f["config.sliding_window_pattern"] = plain(getattr(hf, "sliding_window_pattern", None))
    f["config.learnable_sink"] = plain(getattr(hf, "learnable_sink", None))
    f["is_muse_sparse"] = None
    for k in ("layers_block_type", "hybrid_override_pattern"):
        try:
            f["config." + k] = plain(getattr(hf, k, None))
        except Exception as e:
            f["config." + k] = None
    f.pop("is_muse_sparse")
    return f


res = {}
for d in dirs:
    n = os.path.basename(d.rstrip("/"))
    try:
        res[n] = facts(ModelConfig(model_path=d, trust_remote_code=False, is_draft_model=bool(draft)))
    except Exception as e:
        tb = traceback.extract_tb(e.__traceback__)[-1]
        res[n] = {
            "error": type(e).__name__ + ": " + str(e)[:300],
            "where": f"{tb.filename.split('site-packages/')[-1].split('sglang/')[-1]}:{tb.lineno}",
        }
json.dump(res, open(out, "w"), indent=0, sort_keys=True)
print(v, len(res), {n: r["error"][:120] + r["where"] for n, r in res.items() if "error" in r})
