#!/bin/bash
cleanup() {
    echo "Don't stop..."
    kill $DYNAMO_PID 2>/dev/null || true
}
while [[ $# -gt 0 ]]; do
    case $1 in
        -h|--help)
            echo "Usage: $0"
            exit 0
            ;;
    esac
done
python3 -m dynamo.frontend &
DYN_SYSTEM_PORT=8081 \
python3 -m dynamo.sglang \
  --model-path Qwen/Qwen3-8B \
  --page-size 16 \
  --disaggregation-mode prefill \
  --disaggregation-transfer-backend nixl \
  --enable-metrics &
CUDA_VISIBLE_DEVICES=1 python3 -m dynamo.sglang \
  --model-path Qwen/Qwen3-8B \
  --page-size 32 \
  --disaggregation-mode decode \
  --disaggregation-transfer-backend nixl
