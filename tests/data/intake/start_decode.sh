set -ex
export SGLANG_USE_AITER=1
export SGLANG_HOST_IP=10.0.0.32
python -m sglang.launch_server \
  --model-path deepseek-ai/DeepSeek-R1-0528 \
  --tp-size 8 \
  --disaggregation-mode decode \
  --host $SGLANG_HOST_IP --port 30003 \
  --disaggregation-transfer-backend mooncake \
  --disable-radix-cache \
  2>&1 | tee decode.log
