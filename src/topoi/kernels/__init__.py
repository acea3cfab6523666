"""Compiled inner loops: arrays in, arrays out; they know nothing of models, files or users."""
