"""How checkpoints say that their weights are quantized: `quantization_config`, and `hf_quant_config.json` beside it."""

from __future__ import annotations

from typing import Any

Config = dict[str, Any]


def _ct(weights: Config, inputs: Config | None, form: str, **more: Any) -> Config:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "config_groups": {"group_0": group},
        "ignore": [],
        **more,
    }


def _bits(bits: int, kind: str, strategy: str, dynamic: bool | str = False, **more: Any) -> Config:
    return {"num_bits": bits, "type": kind, "strategy": strategy, "symmetric": True, "dynamic": dynamic, **more}


_KV = {"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": True, "dynamic": False}
FORMATS: dict[str, Config | None] = {
    "none": None,
    "fp8-blocks": {
        "quant_method": "fp8",
        "fmt": "e4m3",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
    },
    "fp8-small-blocks": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [64, 128]},
    "fp8-ue8m0": {
        "quant_method": "fp8",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
        "scale_fmt": "ue8m0",
    },
    "fp8-tensor": {"quant_method": "fp8", "activation_scheme": "static"},
    "fp8-kv": {"quant_method": "fp8", "activation_scheme": "static", "kv_cache_scheme": "static"},
    "fbgemm": {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
    "gptq-8": {"quant_method": "gptq", "bits": 8, "group_size": -1, "desc_act": True, "sym": True},
    "gptq-asymmetric": {"quant_method": "gptq", "bits": 4, "group_size": 64, "desc_act": False, "sym": False},
    "gptq-dynamic": {
        "quant_method": "gptq",
        "bits": 4,
        "group_size": 128,
        "desc_act": False,
        "sym": True,
        "dynamic": {"-:.*mlp": {}},
    },
    "gptq-marlin": {"quant_method": "gptq_marlin", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
    "marlin": {
        "quant_method": "gptq",
        "bits": 4,
        "group_size": 128,
        "desc_act": False,
        "sym": True,
        "checkpoint_format": "marlin",
    },
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"},
    "awq-skip": {
        "quant_method": "awq",
        "bits": 4,
        "group_size": 32,
        "zero_point": True,
        "modules_to_not_convert": ["visual"],
    },
    "awq-symmetric": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": False},
    "awq-marlin": {"quant_method": "awq_marlin", "bits": 4, "group_size": 128, "zero_point": True},
    "ct-w8a8-int8": _ct(_bits(8, "int", "channel"), _bits(8, "int", "token", True), "int-quantized"),
    "ct-w8a8-fp8": _ct(_bits(8, "float", "channel"), _bits(8, "float", "token", True), "float-quantized"),
    "ct-fp8-static-kv": _ct(
        _bits(8, "float", "tensor"), _bits(8, "float", "tensor"), "float-quantized", kv_cache_scheme=_KV
    ),
    "ct-fp8-blocks": _ct(
        _bits(8, "float", "block", block_structure=[128, 128]),
        _bits(8, "float", "group", True, group_size=128),
        "float-quantized",
    ),
    "ct-w4a16": _ct(_bits(4, "int", "group", group_size=128), None, "pack-quantized"),
    "ct-w4a16-32": _ct(_bits(4, "int", "group", group_size=32, actorder="weight"), None, "pack-quantized"),
    "ct-w8a16": _ct(_bits(8, "int", "channel"), None, "pack-quantized"),
    "ct-nvfp4": _ct(
        _bits(4, "float", "tensor_group", group_size=16),
        _bits(4, "float", "tensor_group", "local", group_size=16),
        "nvfp4-pack-quantized",
    ),
    "ct-w4a8": _ct(_bits(4, "int", "group", group_size=128), _bits(8, "float", "token", True), "pack-quantized"),
    "ct-kv-int8": _ct(_bits(8, "float", "channel"), None, "float-quantized", kv_cache_scheme={**_KV, "type": "int"}),
    "modelopt-fp8": {"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": _KV},
    "modelopt-fp4": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"], "kv_cache_scheme": _KV},
    "modelopt-fp4-method": {"quant_method": "modelopt_fp4", "quant_algo": "NVFP4"},
    "modelopt-nested": {
        "quant_method": "modelopt",
        "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"},
    },
    "modelopt-mixed": {
        "quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {"model.layers.0": {"quant_algo": "NVFP4"}},
    },
    "modelopt-mixed-w4": {
        "quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {"model.layers.0": {"quant_algo": "W4A8_AWQ"}},
    },
    "modelopt-mxfp8": {"quant_method": "modelopt", "quant_algo": "MXFP8", "group_size": 32},
    "algo-alone": {"quant_algo": "NVFP4"},
    "mxfp4": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]},
    "mxfp8": {"quant_method": "mxfp8", "weight_block_size": [1, 32]},
    "bitsandbytes": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "w8a8-int8": {"quant_method": "w8a8_int8"},
    "w8a8-fp8": {"quant_method": "w8a8_fp8"},
    "w4afp8": {"quant_method": "w4afp8", "group_size": 128},
    "blockwise-int8": {
        "quant_method": "blockwise_int8",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
    },
    "moe-wna16": {"quant_method": "moe_wna16", "bits": 4, "group_size": 128},
    "quark": {
        "quant_method": "quark",
        "global_quant_config": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}},
        "layer_quant_config": {},
        "export": {"kv_cache_group": []},
    },
    "quark-mxfp4": {
        "quant_method": "quark",
        "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}},
        "layer_quant_config": {},
    },
    "auto-round": {
        "quant_method": "auto-round",
        "bits": 4,
        "group_size": 128,
        "sym": True,
        "packing_format": "auto_round:auto_gptq",
    },
    "auto-round-awq": {
        "quant_method": "auto-round",
        "bits": 4,
        "group_size": 128,
        "sym": False,
        "packing_format": "auto_round:auto_awq",
    },
    "petit": {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16},
    "gguf": {"quant_method": "gguf"},
    "torchao": {"quant_method": "torchao", "quant_type": {"default": "int4wo"}},
    "humming": {"quant_method": "humming", "bits": 4},
    "unknown": {"quant_method": "aqlm", "nbits_per_codebook": 16},
    "empty": {},
    "upper": {"quant_method": "FP8", "activation_scheme": "dynamic"},
}
FILES: dict[str, Config] = {
    "fp8": {
        "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"},
    },
    "fp8-no-kv": {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": None}},
    "nvfp4": {
        "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16},
    },
    "nvfp4-kv4": {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "NVFP4", "group_size": 16}},
    "mixed": {
        "quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a.mlp": {"quant_algo": "FP8"}}},
    },
    "w4a8": {"quantization": {"quant_algo": "W4A8_AWQ", "kv_cache_quant_algo": "FP8"}},
    "mxfp8": {"quantization": {"quant_algo": "MXFP8", "group_size": 32}},
}  # fmt: skip
