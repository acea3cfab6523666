"""Correlated topic model: documents' mixtures of topics are logistic normal (README.md in this folder)."""
