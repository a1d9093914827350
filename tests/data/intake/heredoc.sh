cat > note.txt <<EOF
it's a note
EOF
bash <<'END'
python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 4
END
