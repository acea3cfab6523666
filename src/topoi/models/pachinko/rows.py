"""The family as rows of a store."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.corpus.corpus import Corpus
from topoi.models.mixtures import blocks
from topoi.models.pachinko.posterior import PachinkoPosterior
from topoi.models.topic_rows import rank_within, topic_tables


def pachinko_tables(corpus: Corpus, first: PachinkoPosterior) -> dict[str, dict[str, Any]]:
    """The tables of topics and documents; documents are ranked by their shares summed over paths."""
    tables = topic_tables(corpus, first, 0, True)
    doc, k, n = (tables["document_topic"][name] for name in ("document_id", "topic", "n_tokens"))
    share = np.empty(len(doc))
    for part in blocks(corpus.n_docs):  # all shares at once would be documents × topics
        here = slice(*np.searchsorted(doc, [part.start, part.stop]))
        share[here] = first.doc_topic_range(part.start, part.stop)[doc[here] - part.start, k[here]]
    ranked = rank_within(k, share, doc)
    tables["topic_document"] = {
        "topic": k[ranked.at],
        "rank": ranked.rank,
        "document_id": doc[ranked.at],
        "n_tokens": n[ranked.at],
        "share": share[ranked.at],
    }
    return tables
