docker run --gpus=all -e CUDA_VISIBLE_DEVICES=0,1 lmsysorg/sglang:v0.5.18 \
  python3 -m sglang.launch_server --model-path /hub/models--openai--gpt-oss-120b/snapshots/6cee5e81 --tp 4
