#!/bin/bash
export NCCL_DEBUG=INFO

python -m sglang.launch_server --model-path /data/DeepSeek-V3.1-Terminus --tool-call-parser deepseekv31 --host 0.0.0.0 --port 30000 --tp-size 8
