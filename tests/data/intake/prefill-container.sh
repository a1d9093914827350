#!/usr/bin/env bash
set -euo pipefail
source "$(dirname "$0")/common.sh"

NAME="${NAME:-llm-prefill}"
echo "Prefill in ${NAME}: model ${WEIGHTS}, image ${IMAGE}"
docker rm -f "${NAME}" 2>/dev/null || true

docker run -d \
  --name "${NAME}" \
  --gpus '"device=0"' \
  --ipc=host \
  --network=host \
  -v "${CACHE}:/root/.cache/huggingface" \
  -e HF_HOME=/root/.cache/huggingface \
  "${IMAGE}" \
  python3 -m sglang.launch_server \
    --model-path "${WEIGHTS}" \
    --port 30000 \
    --mem-fraction-static 0.8 \
    --disaggregation-mode prefill \
    --disaggregation-ib-device mlx5_0 \
    --disaggregation-bootstrap-port 8998

echo "Prefill listens on 30000"
