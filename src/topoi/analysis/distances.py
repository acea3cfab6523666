"""Distances of one distribution to each of many: see ``topoi.models.distances``."""

from __future__ import annotations

from topoi.models.distances import MEASURES, distances, kl_matrix

__all__ = ["MEASURES", "distances", "kl_matrix"]
