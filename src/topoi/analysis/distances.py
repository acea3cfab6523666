"""Distances of one distribution to each of many: see ``topoi.models.smoothed_counts``."""

from __future__ import annotations

from topoi.models.smoothed_counts import MEASURES, distances, kl_matrix

__all__ = ["MEASURES", "distances", "kl_matrix"]
