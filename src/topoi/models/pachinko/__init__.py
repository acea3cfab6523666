"""Pachinko allocation: topics that are mixtures of topics, over any directed acyclic graph (Li and McCallum)."""
