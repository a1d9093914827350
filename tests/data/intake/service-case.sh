#!/bin/bash
# start, stop or status of a server and its proxy
set -e
HERE="$(cd "$(dirname "$0")" && pwd)"
MODEL="${MODEL:-google/gemma-2-9b}"
BACK="${BACK:-8000}"
TP_SIZE="${TP_SIZE:-4}"
CHUNK="${CHUNK:-2048}"
REMOTE="${REMOTE:-1}"
export KMP_BLOCKTIME=1

stop_own() {
    for file in "${HERE}/a.pid" "${HERE}/b.pid"; do
        [ -f "${file}" ] || continue
        rm -f "${file}"
    done
}

case "${1:-start}" in
    start)
        if [ "${REMOTE}" = "1" ]; then
            CODE=(--trust-remote-code)
        else
            CODE=()
        fi
        stop_own
        numactl --interleave=all python -m sglang.launch_server \
            --model "${MODEL}" \
            --host 127.0.0.1 \
            --port "${BACK}" \
            "${CODE[@]}" \
            --disable-overlap-schedule \
            --tp "${TP_SIZE}" \
            --disable-cuda-graph \
            --chunked-prefill-size "${CHUNK}" \
            > "${HERE}/server.log" 2>&1 &
        echo "$!" > "${HERE}/a.pid"
        ;;
    stop)
        stop_own
        ;;
    *)
        echo "Usage: $0 {start|stop}"
        exit 1
        ;;
esac
