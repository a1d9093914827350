#!/bin/bash
set -e
TP=${TP:-8}
ATTENTION_BACKEND=${ATTENTION_BACKEND:-"fa3"}
DISTRIBUTED_ARGS=(
    --tp-size $TP
    --attention-backend ${ATTENTION_BACKEND}
)
if [ "$ENABLE" = 1 ]; then
    DISTRIBUTED_ARGS+=(--enable-metrics)
fi
python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B "${DISTRIBUTED_ARGS[@]}"
