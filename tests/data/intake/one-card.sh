#!/bin/bash
# One card: tp stays 1.
echo "Starting on http://localhost:8000"

python3 -m sglang.launch_server \
        --port 8000 \
        --model-path Qwen/Qwen3.5-27B \
        --tp-size 1 \
        --attention-backend triton \
        --reasoning-parser qwen3 \
        --tool-call-parser qwen3_coder
