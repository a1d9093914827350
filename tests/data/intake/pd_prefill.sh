export TRITON_CACHE_DIR=~/.triton
CUDA_VISIBLE_DEVICES=6 python -m sglang.launch_server \
    --model-path Qwen/Qwen3-8B \
    --disaggregation-mode prefill \
    --disaggregation-transfer-backend nixl \
    --port 30000
