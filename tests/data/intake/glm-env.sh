#!/usr/bin/env bash
set -euo pipefail
export SGLANG_ENABLE_SPEC_V2=True
export SGLANG_ENABLE_JIT_DEEPGEMM=0
export NCCL_IB_DISABLE=1
export OMP_NUM_THREADS=8
python3 -m sglang.launch_server   --model-path zai-org/GLM-5-FP8   --served-model-name GLM   --reasoning-parser glm45   --tool-call-parser glm47   --tensor-parallel-size 8   --kv-cache-dtype fp8_e4m3   --trust-remote-code   --page-size 64   --attention-backend nsa   --moe-runner-backend b12x   --cuda-graph-max-bs 4   --speculative-algorithm EAGLE   --speculative-num-steps 3   --speculative-num-draft-tokens 4   --speculative-eagle-topk 1   --model-loader-extra-config '{"enable_multithread_load": true, "num_threads": 16}'
