"""The model families."""
