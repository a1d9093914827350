launch_sglang_server() {
  local MODEL_PATH="$1"
  local TP_SIZE="$2"
  shift 2
  python -m sglang.launch_server \
    --model-path "$MODEL_PATH" \
    --tp-size $TP_SIZE
}
