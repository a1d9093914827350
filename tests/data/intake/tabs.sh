if true; then
	python3 -m sglang.launch_server \
		--model-path Qwen/Qwen3-8B \
		--tp 2
fi
