"""Mixture of unigrams: a family of models outside topoi."""
