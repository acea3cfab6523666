"""The family as rows of a store."""

from __future__ import annotations

from topoi.corpus.corpus import Corpus
from topoi.models.aspect.labels import AspectChain
from topoi.models.topic_rows import topic_tables
from topoi.store.blocks import Table


def aspect_tables(corpus: Corpus, first: AspectChain) -> dict[str, Table]:
    """Tables of the model: numbers of tokens by one draw of labels; probabilities of words and documents as fitted."""
    shares, words = first.doc_topic, first.topic_word
    return topic_tables(
        corpus, first, 0, True, share=lambda doc, k, _: shares[doc, k], probability=lambda w, k, _: words[k, w]
    )
