#!/usr/bin/env bash
# One server a time, to compare ways of speculation.
set -euo pipefail

TARGET="${TARGET:-Qwen/Qwen3-32B}"
DRAFT="${DRAFT:-Qwen/Qwen3-8B}"
PORT="${PORT:-6006}"
SHARE="${SHARE:-0.88}"
WAY="${1:-plain}"

COMMON=(
  --model-path "$TARGET"
  --host 0.0.0.0 --port "$PORT"
  --mem-fraction-static "$SHARE"
  --trust-remote-code
  --disable-cuda-graph
)

case "$WAY" in
  plain)
    exec python3 -m sglang.launch_server "${COMMON[@]}"
    ;;
  ngram)
    # needs no draft
    exec python3 -m sglang.launch_server "${COMMON[@]}" \
      --speculative-algorithm NGRAM \
      --speculative-num-steps 5 \
      --speculative-num-draft-tokens 8
    ;;
  standalone)
    exec python3 -m sglang.launch_server "${COMMON[@]}" \
      --speculative-algorithm STANDALONE \
      --speculative-draft-model-path "$DRAFT" \
      --speculative-num-steps 5 \
      --speculative-eagle-topk 1
    ;;
  *)
    echo "usage: $0 {plain|ngram|standalone}"
    exit 1
    ;;
esac
