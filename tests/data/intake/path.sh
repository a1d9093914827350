python3 /sgl-workspace/sglang/python/sglang/launch_server.py --model-path Qwen/Qwen3-8B --tp 2
