export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
source /home/u/conda.sh
python -m sglang.launch_server --served-model-name=ds-v3 --model-path=deepseek-ai/DeepSeek-V3 \
--host=0.0.0.0 --port=28001 \
--mem-fraction-static=0.9 \
--tp=8 --max-running-requests=64 \
# --enable-torch-compile
