#!/bin/bash
# Serve a checkpoint on this machine; every default can be given as an option.
CHECKPOINT="${CHECKPOINT:-mistralai/Mistral-7B-Instruct-v0.3}"
LISTEN="${LISTEN:-30000}"
SHARDS="${TP:-8}"
LOG="${LOG:-/tmp/server.log}"

stop_it() {
    if [ ! -z "$CHILD" ]; then
        kill $CHILD 2>/dev/null || true
        pkill -P $CHILD 2>/dev/null || true
    fi
}
trap stop_it EXIT INT TERM

while [[ $# -gt 0 ]]; do
    case $1 in
        --model)
            CHECKPOINT="$2"
            shift 2
            ;;
        --tp)
            SHARDS="$2"
            shift 2
            ;;
        --help)
            echo "Usage: $0 [--model ID] [--tp N]"
            exit 0
            ;;
        *)
            echo "Unknown: $1"
            exit 1
            ;;
    esac
done

if lsof -Pi :${LISTEN} -t >/dev/null ; then
    echo "Port ${LISTEN} is taken"
    exit 1
fi
ulimit -n 32000

python -m sglang.launch_server \
    --model-path ${CHECKPOINT} \
    --host 0.0.0.0 \
    --port ${LISTEN} \
    --tp ${SHARDS} \
    --disable-outlines-disk-cache \
    --grammar-backend xgrammar \
    > ${LOG} 2>&1 &

CHILD=$!
for i in $(seq 1 60); do
    if curl -s http://localhost:${LISTEN}/health > /dev/null 2>&1; then
        wait $CHILD
        exit 0
    fi
    sleep 2
done
exit 1
