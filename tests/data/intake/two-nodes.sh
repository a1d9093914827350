#!/bin/bash
set -euo pipefail
SETTINGS="$(pwd)/all-to-all.json"
cat > "$SETTINGS" <<'EOF'
{
  "normal_dispatch": {"num_sms": 24, "num_max_nvl_chunked_send_tokens": 16},
  "normal_combine": {"num_sms": 24, "num_max_nvl_chunked_send_tokens": 16}
}
EOF
export CUDA_HOME="${CUDA_HOME:-/usr/local/cuda-12.8}"
export PATH="$CUDA_HOME/bin:${PATH:-}"
export SGLANG_ENABLE_JIT_DEEPGEMM=1

WEIGHTS="/models/DeepSeek-V3"
FIRST="10.0.0.62:5000"
RANK=${1:? "Usage: $0 <rank>"}
COUNT=2

if command -v nvcc >/dev/null 2>&1; then
  nvcc --version || true
else
  echo "no nvcc"
fi
python - <<'PY' || true
import torch
print("torch:", torch.__version__)
PY

python -m sglang.launch_server \
  --model-path "$WEIGHTS" \
  --tp-size 16 \
  --ep-size 16 \
  --dp-size 16 \
  --nnodes "$COUNT" \
  --node-rank "$RANK" \
  --dist-init-addr "$FIRST" \
  --attention-backend flashinfer \
  --enable-eplb \
  --ep-num-redundant-experts 16 \
  --moe-a2a-backend deepep \
  --deepep-mode normal \
  --deepep-config "$SETTINGS" \
  --enable-dp-attention \
  --enable-dp-lm-head
