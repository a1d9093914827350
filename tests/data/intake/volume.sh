volume=$PWD/data
model=Qwen/Qwen3-8B
docker run -d --rm --gpus all -v $volume:/root/.cache/huggingface \
    lmsysorg/sglang:v0.5.18-cu129 \
    python3 -m sglang.launch_server --model-path $model --host 0.0.0.0 --port 30000
