"""The family as rows of a store."""

from __future__ import annotations

from typing import Any

from topoi.corpus.corpus import Corpus
from topoi.models.aspect.labels import AspectChain
from topoi.models.topic_rows import documents_by_share, topic_tables


def aspect_tables(corpus: Corpus, first: AspectChain) -> dict[str, dict[str, Any]]:
    """Numbers of tokens by one draw of labels; probabilities of words and shares of documents as fitted."""
    tables = topic_tables(corpus, first, 0, True)
    words = tables["topic_word"]
    words["probability"] = first.topic_word[words["topic"], words["word_id"]]
    tables["topic_document"] = documents_by_share(tables, first.doc_topic)
    return tables
