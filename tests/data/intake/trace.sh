#!/bin/bash
export SGLANG_TORCH_PROFILER_DIR=/workspace/logs
python3 -m sglang.launch_server \
 --model-path Qwen/Qwen3-8B \
 --tp-size 4 \
 --mem-frac-static 0.8 \
 --port 31000
