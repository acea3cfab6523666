"""Authors by what they wrote: the mixture of a language model of all their documents and of their topics."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.retrieval.index import CorpusIndex, DocumentIndex, HasSearchIndex
from topoi.retrieval.ranking import Evidence, Settings, Units, scores
from topoi.retrieval.terms import Terms
from topoi.retrieval.topic_evidence import TopicEvidence, has_topics

# Indexes of corpora in memory, each made once.
_INDEXES: WeakKeyDictionary[Corpus, CorpusIndex] = WeakKeyDictionary()


def index_of(model: Any) -> DocumentIndex:
    """The index of a fitted model's training documents, or of the store that it is in."""
    if isinstance(model, HasSearchIndex):
        return model.search_index()
    corpus = model.corpus_
    if corpus not in _INDEXES:
        _INDEXES[corpus] = CorpusIndex(corpus)
    return _INDEXES[corpus]


def bag_scores(
    model: Any, words: NDArray[Any], times: NDArray[Any], authors: bool, settings: Settings | None = None
) -> NDArray[np.float64]:
    """Score of every author, or every document, for a bag of words.

    Mean over the words of log(P(word | unit) / P(word)), where P(word | unit) is the mixture of ``topoi.Search``; an
    author's words are those of all documents that name the author. 0 means: no more likely than anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> found = bag_scores(model, np.array([corpus.vocabulary.index("gene")]), np.array([1]), authors=True)
    >>> bool(found[0] < 0 < found[1])
    True
    """
    return evidence_scores(bag_evidence(model, words, times), authors, settings)


def evidence_scores(evidence: Evidence, authors: bool, settings: Settings | None = None) -> NDArray[np.float64]:
    """``bag_scores`` of evidence that was found before, so that authors and documents are scored by one reading."""
    method = "language" if evidence.topics is None else "mixture"
    return scores(Units(evidence.index, authors), evidence, method, settings or Settings())


def bag_evidence(model: Any, words: NDArray[Any], times: NDArray[Any]) -> Evidence:
    """Evidence of a model's training documents and topics about a bag of words."""
    index = index_of(model)
    terms = Terms(np.asarray(words, np.int64), np.asarray(times, np.float64), np.zeros(0, np.int64))
    return Evidence(index, terms, TopicEvidence(model.chains_, index, "documents") if has_topics(model) else None)
