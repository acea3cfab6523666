"""Comparing models fairly: the same tokens seen, the same tokens scored."""

from topoi.evaluation.completion import completion_curve
from topoi.evaluation.empirical import empirical_likelihood, empirical_likelihood_report
from topoi.evaluation.particles import left_to_right

__all__ = ["completion_curve", "empirical_likelihood", "empirical_likelihood_report", "left_to_right"]
