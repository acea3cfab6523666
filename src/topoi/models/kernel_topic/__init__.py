"""Kernel topic models: topics as functions of time, people and links (Hennig et al. 2012)."""
