"""Sparse schemes for many topics (Li and McCallum 2006, section 3.2): starts from few documents, pruned candidates.

Author-topic models and pachinko allocation are complete without these files.
"""
