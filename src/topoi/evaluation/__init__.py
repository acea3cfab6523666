"""Comparison of models on equal terms: the same observed tokens and the same scored tokens."""

from topoi.evaluation.classification import accuracy, classify, confusion_table, fit_classes
from topoi.evaluation.coherence_measures import coherence
from topoi.evaluation.comparison import compare
from topoi.evaluation.completion import completion_curve
from topoi.evaluation.empirical import empirical_likelihood, empirical_likelihood_report
from topoi.evaluation.ep import ep_likelihood, importance_likelihood
from topoi.evaluation.heldout import heldout, heldout_summary
from topoi.evaluation.measures import bits_per_word, coverage, crps
from topoi.evaluation.particles import left_to_right
from topoi.evaluation.quality import diversity, exclusivity, stability
from topoi.evaluation.topic_search import TopicSearch, search_topics
from topoi.retrieval.measures import evaluate_search

__all__ = [
    "TopicSearch",
    "accuracy",
    "bits_per_word",
    "classify",
    "coherence",
    "compare",
    "completion_curve",
    "confusion_table",
    "coverage",
    "crps",
    "diversity",
    "empirical_likelihood",
    "empirical_likelihood_report",
    "ep_likelihood",
    "evaluate_search",
    "exclusivity",
    "fit_classes",
    "heldout",
    "heldout_summary",
    "importance_likelihood",
    "left_to_right",
    "search_topics",
    "stability",
]
