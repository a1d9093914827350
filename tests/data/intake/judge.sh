#!/bin/bash
export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6
export CUDA_HOME=/usr/local/cuda-12.8
export PATH=/usr/local/cuda-12.8/bin:$PATH

cd /srv/judge
/srv/judge/deploy/.venv/bin/python -u -m sglang.launch_server \
  --model-path /share/weights/Qwen3.5-35B-A3B/ \
  --tp 2 --port 8000 --host 0.0.0.0 \
  --served-model-name judge \
  --mem-fraction-static 0.80 \
  --context-length 16384 \
  --attention-backend triton
