python -m sglang.launch_server --model-path Qwen/Qwen3-8B --disaggregation-mode prefill --port 30000
python -m sglang.launch_server --model-path Qwen/Qwen3-8B --disaggregation-mode decode --port 30001 --base-gpu-id 1
