#!/bin/bash
ROOT=$(dirname $(dirname $(readlink -f $0)))
WEIGHTS=${ROOT}/weights/Qwen3-8B
export CUDA_VISIBLE_DEVICES=0

run=$(cat <<- EOF
python -m sglang.launch_server --model-path ${WEIGHTS} \
--trust-remote-code \
--tp 2 \
--port 6011
EOF
)

if [ "-d" = "$1" ]; then
  run="nohup ${run} > ${ROOT}/server.log 2>&1 &"
fi

eval $run
