docker run --gpus '"device=0,1,2,3"' \
  --shm-size 32g \
  -e OMP_NUM_THREADS=1 \
  lmsysorg/sglang:v0.5.18 \
  python3 -m sglang.launch_server \
    --model-path Qwen/Qwen3-8B \
    --attention-backend trtllm_mla \
    --dp-size 2 \
    --tp 2
