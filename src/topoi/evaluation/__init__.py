"""Comparing models fairly: the same tokens seen, the same tokens scored."""

from topoi.evaluation.completion import completion_curve
from topoi.evaluation.ep import ep_likelihood, importance_likelihood

__all__ = ["completion_curve", "ep_likelihood", "importance_likelihood"]
