"""Rank-one update of every topic's covariance matrix by one document's message, compiled."""

from __future__ import annotations

from topoi.kernels.jit import lean


@lean
def subtract_outer(covariance, column, scale):
    """C_k −= scale_k · c_k c_kᵀ for every topic, in place; O(topics × documents²)."""
    for k in range(covariance.shape[0]):
        for i in range(covariance.shape[1]):
            factor = scale[k] * column[k, i]
            for j in range(covariance.shape[2]):
                covariance[k, i, j] -= factor * column[k, j]
