#!/usr/bin/env bash
set -euo pipefail
GPUS=${GPUS:-8}
TP=${TP:-1}
if [[ ${GPUS} != 8 ]]; then
  echo "eight GPUs are wanted, not ${GPUS}" >&2
  exit 1
fi
if [[ -z ${MODEL:-} ]]; then
  if [[ -d /opt/weights ]]; then
    MODEL=/opt/weights/Qwen3-32B
  else
    MODEL=Qwen/Qwen3-32B
  fi
fi
if [[ ${FAST:-1} == 1 ]]; then
  QUANTIZATION=${QUANTIZATION:-fp8}
  export SGLANG_ENABLE_SPEC_V2=true
else
  QUANTIZATION=
  export SGLANG_ENABLE_SPEC_V2=false
fi

call=(
  sglang serve
  # the LLM parser, whatever the folder is called
  --model-type llm
  --model-path Qwen/Qwen3-32B
  --tp-size "${TP}"
)
if [[ -n ${QUANTIZATION} ]]; then
  call+=(--quantization "${QUANTIZATION}")
fi
if [[ -n ${WARM:-} ]]; then
  read -r -a warm <<<"${WARM}"
  call+=(--cuda-graph-bs "${warm[@]}")
fi

exec "${call[@]}"
