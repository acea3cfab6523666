"""Mixture and probability of a document under given topics and a Dirichlet: what families and evaluation share."""
