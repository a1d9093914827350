sglang serve Qwen/Qwen3-8B --tp-size 2 --attention-backend flashinfr
