#!/bin/bash
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
LOG="/tmp/explore.log"
PORT=30001

cd "$HERE"
source venv/bin/activate
echo "Explorer on port $PORT (second GPU)"

CUDA_VISIBLE_DEVICES=1 nohup python -m sglang.launch_server \
    --model-path /mnt/raid/weights/Qwen3-8B \
    --port $PORT \
    --host 0.0.0.0 \
    --attention-backend triton \
    --sampling-backend pytorch \
    > "$LOG" 2>&1 &

echo "PID: $!"
