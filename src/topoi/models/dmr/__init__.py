"""Dirichlet-multinomial regression: topic shares as log-linear functions of metadata (Mimno and McCallum 2008)."""
