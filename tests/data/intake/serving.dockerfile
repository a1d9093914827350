# syntax=docker/dockerfile:1
FROM nvcr.io/nvidia/sglang:25.10-py3
CMD ["python3", "-m", "sglang.launch_server", \
     "--model-path", "Qwen/Qwen3-8B", \
     "--kv-cache-dtype", "fp8"]
