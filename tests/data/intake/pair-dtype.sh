python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --disaggregation-mode prefill \
  --kv-cache-dtype fp8_e4m3 --page-size 64 &
python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --disaggregation-mode decode \
  --kv-cache-dtype fp8_e5m2 --page-size 64
