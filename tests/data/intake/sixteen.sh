NCCL_SOCKET_IFNAME=bond0 \
/opt/run.sh \
/app/bin/python3 -m sglang.launch_server \
  --model-path /app/models/DeepSeek-R1/ \
  --tp-size 16 --dist-init-addr 10.82.101.193:5000 --nnodes 2 --node-rank 0 \
  --disaggregation-mode prefill \
  --disaggregation-decode-url http://10.0.0.1:30001

echo done
