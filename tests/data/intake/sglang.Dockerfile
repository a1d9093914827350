FROM lmsysorg/sglang:v0.5.18
RUN useradd -m -s /bin/bash runner
USER runner
EXPOSE 30000
ENTRYPOINT ["python3", "-m", "sglang.launch_server"]
