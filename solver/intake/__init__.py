"""What people have -> a Request: command lines, manifests, logs, model folders."""
