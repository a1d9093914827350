"""Answers -> text, JSON, YAML, commands. Decides nothing."""
