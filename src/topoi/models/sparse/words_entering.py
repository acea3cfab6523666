"""Documents added to LDA on sparse counts (Li and McCallum, section 3.2.3)."""

from __future__ import annotations

import numpy as np

from topoi.kernels.draw import draw_positive
from topoi.kernels.jit import compiled, lean
from topoi.kernels.word_lists import add_to_list
from topoi.models.sparse.words import make_word, open_word, phi, set_inverse


@compiled
def enter_documents(documents, docs, topic, counts, priors, stream):
    """Add documents one after the other, drawing each token among the topics of its word, or all if the word is new.

    Changes topics, counts and stream; returns the total number of candidates. Cost: O(the word's topics) for each
    token.
    """
    n_topics = counts.topic.shape[0]
    number = np.zeros(n_topics, np.int32)
    return _enter(documents, docs, topic, counts, priors, number, make_word(counts, priors, 1), stream)


@lean
def _enter(documents, docs, topic, counts, priors, number, word, stream):
    considered = 0
    for c in range(docs.shape[0]):
        begin, end = documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]
        for i in range(begin, end):
            w = np.int64(documents.tokens[i])
            open_word(counts, priors, word, w)
            n = word.sizes[0]
            if n == 0:
                n = counts.topic.shape[0]
                for k in range(n):
                    word.topics[k] = k
            for t in range(n):
                k = word.topics[t]
                word.weights[t] = (number[k] + priors.alpha[k]) * phi(priors, word, w, k)
            k = word.topics[draw_positive(word.weights, n, stream)]
            considered += n
            for t in range(word.sizes[0]):
                word.row[word.topics[t]] = 0
                word.listed[word.topics[t]] = False
            topic[i] = k
            number[k] += 1
            counts.topic[k] += 1
            add_to_list(counts, w, k)
            set_inverse(counts, priors, word, k)
        for i in range(begin, end):
            number[topic[i]] = 0
    return considered
