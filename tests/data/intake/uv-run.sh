cd /srv/v3

uv run -m sglang.launch_server \
    --model-path "/data/DeepSeek-V3" \
    --host 0.0.0.0 --port 30000 \
    --tp 8 \
    --context-length 131072 \
    --reasoning-parser deepseek-v3 \
    --tool-call-parser deepseekv3 \
    --chat-template "./templates/tools.jinja" \
    --mem-fraction-static 0.9 \
    --trust-remote-code 
    # --enable-torch-compile --torch-compile-max-bs 2 \
    # --speculative-algorithm EAGLE \
    # --speculative-num-steps 3 \
