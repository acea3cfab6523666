"""Compiled inner loops: arrays in, arrays out, independent of models, files and users."""
