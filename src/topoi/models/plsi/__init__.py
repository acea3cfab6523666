"""Probabilistic latent semantic indexing: topics and documents' mixtures by maximum likelihood (Hofmann 1999)."""
