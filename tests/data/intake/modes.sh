#!/usr/bin/env bash
set -euo pipefail

way="${1:?usage: modes.sh <graph|eager|long>}"
here="$(cd "$(dirname "$0")/.." && pwd)"
MODEL="${MODEL:-Qwen/Qwen3-8B}"
SHARE="${SHARE:-0.5}"
BACKEND="${BACKEND:-flashinfer}"

extra=()
graphs=(--cuda-graph-bs 1 2 3 4)
case "${way}" in
  graph)
    kind=auto
    ;;
  eager)
    kind=fp8_e5m2
    graphs=(--disable-cuda-graph)
    ;;
  long)
    kind=fp8
    extra=(--json-model-override-args '{"max_position_embeddings": 131072}')
    ;;
  *)
    echo "no such mode: ${way}" >&2
    exit 2
    ;;
esac

exec "${here}/.venv/bin/python" -m sglang.launch_server \
  --model-path "${MODEL}" \
  --tp-size 1 \
  --mem-fraction-static "${SHARE}" \
  --attention-backend "${BACKEND}" \
  "${extra[@]}" \
  --kv-cache-dtype "${kind}" \
  "${graphs[@]}" ${MORE:-} \
  --host 127.0.0.1
