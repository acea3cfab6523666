"""Labels of a text whose topics' words and mixture's Dirichlet prior are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.folding import Labels
from topoi.models.bags import Bags
from topoi.models.features import folding

# Passes over a document's words end when no expected count changes by so much per word.
TOLERANCE, PASSES = 1e-5, 200


def fold_labels(
    word_topic: NDArray[np.float64], alpha: NDArray[np.float64], tokens: NDArray[Any]
) -> tuple[NDArray[np.float64], Labels]:
    """Mean mixture of a text, and the probabilities of topics for its tokens; there are no authors.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.features.labels import fold_labels
    >>> mixture, labels = fold_labels(np.array([[0.5, 1.0], [0.5, 0.0]]), np.ones(2), np.array([1]))
    >>> labels.topic.tolist(), mixture.round(3).tolist()
    ([[1.0, 0.0]], [0.667, 0.333])
    """
    words, times = np.unique(np.asarray(tokens, np.int64), return_counts=True)
    bags = Bags(np.array([0, len(words)]), words, times.astype(np.float64))
    counts = np.zeros((1, len(alpha)))
    folding.fold_in(bags, word_topic, alpha[None], 0, 1, TOLERANCE, PASSES, counts)
    total = alpha + counts[0]
    mixture = total / total.sum()
    shares = word_topic[np.asarray(tokens, np.int64)] * mixture
    return mixture, Labels(shares / shares.sum(axis=1, keepdims=True), np.ones((len(tokens), 1)))
