"""Which names of files mean which kind, where the content does not tell."""

# What a shell runs as it is.
SHELL = (".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".env")
