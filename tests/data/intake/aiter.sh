# python -m sglang.launch_server --model /m/DeepSeek-R1-0528 --tp 8 --attention-backend nope
ZZD=1 python -m sglang.launch_server --model /m/DeepSeek-R1-0528 --cuda-graph-max-bs=8 --tp 8 --load-format dummy
