"""``python -m solver`` is ``preflight``."""

from .cli import main

main()
