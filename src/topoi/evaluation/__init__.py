"""Comparing models fairly: the same tokens seen, the same tokens scored."""

from topoi.evaluation.completion import completion_curve

__all__ = ["completion_curve"]
