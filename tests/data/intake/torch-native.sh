unset http_proxy

python3 -m sglang.launch_server \
    --model-path "/root/Qwen3-8B/" \
    --host 0.0.0.0 \
    --attention-backend torch_native \
    --disable-overlap-schedule \
    --tp 1 \
    --enable-kvstore
