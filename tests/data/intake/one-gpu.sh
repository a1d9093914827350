docker run --gpus '"device=5"' --ipc=host \
    lmsysorg/sglang:latest \
    bash -c "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --port 30003 --tp-size 2"
