"""Posteriors whose documents' mixtures do not follow from the counts of their words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi.models.posterior import Posterior
from topoi.models.share_moments import Moments


class KeptMixtures(Posterior):
    """A posterior whose documents' mixtures do not follow from their counts: a store keeps them, with deviations.

    In a store they have two bytes each, so that shares agree with those in memory to three digits.
    """

    mixtures_are_counts = False

    def document_shares(self, document: int) -> NDArray[np.float64]:
        """Topic shares of one training document: a row of ``doc_topic``."""
        stored = self.source.document_moments(document)
        return self.mixture_range(document, document + 1)[0] if stored is None else stored.mean

    def document_moments(self, document: int) -> Moments:
        """Mixture of a training document, with deviations if the family has a posterior of it."""
        stored = self.source.document_moments(document)
        if stored is not None:
            return stored
        spread = self.deviation_range(document, document + 1)
        return Moments(self.document_shares(document), None if spread is None else spread[0])

    def topic_shares(self, topic: int) -> NDArray[np.float64]:
        """Share of a topic in every training document, rounded as a store keeps it, for one order in both."""
        return np.asarray(self.mixtures[:, topic], np.float16).astype(np.float64)
