"""gensim's dictionary and bags of words; ``Corpus.from_gensim`` is the way back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import CorpusError, ModelError
from topoi.evaluation.topic_words import is_model
from topoi.exchange.contents import words_of
from topoi.store.store import Store
from topoi.store.view import ModelView

Bag = list[tuple[int, int]]


def to_gensim_dictionary(corpus: Any) -> Any:
    """The words as a ``gensim.corpora.Dictionary``, with their numbers and frequencies.

    Parameters
    ----------
    corpus : Corpus, fitted model or view
        The words of a corpus, or of a model's.

    Returns
    -------
    gensim.corpora.Dictionary
        Ids are the numbers of words in ``corpus.words``, also of words that no document has.

    Examples
    --------
    >>> import topoi
    >>> dictionary = topoi.exchange.to_gensim_dictionary(topoi.Corpus.from_tokens([["sun", "star", "sun"], ["sun"]]))
    >>> dictionary.token2id, dictionary.dfs[0], dictionary.doc2bow(["sun", "moon", "sun"])
    ({'sun': 0, 'star': 1}, 2, [(0, 2)])
    """
    try:
        from gensim.corpora import Dictionary
    except ImportError as error:
        raise CorpusError(f"a gensim dictionary needs gensim: pip install gensim ({error})") from error
    words = _words(corpus)
    found = Dictionary()
    found.token2id = {word: w for w, word in enumerate(words)}
    for bag in bags(corpus):
        found.num_docs += 1
        found.num_nnz += len(bag)
        for w, times in bag:
            found.num_pos += times
            found.dfs[w] = found.dfs.get(w, 0) + 1
            found.cfs[w] = found.cfs.get(w, 0) + times
    return found


def to_gensim_corpus(corpus: Any) -> list[Bag]:
    """The documents as gensim's bags of words: for each, its words' numbers and how often it has them.

    Parameters
    ----------
    corpus : Corpus, fitted model or view
        The documents of a corpus, or of a model's.

    Examples
    --------
    >>> import topoi
    >>> topoi.exchange.to_gensim_corpus(topoi.Corpus.from_tokens([["sun", "star", "sun"], []]))
    [[(0, 2), (1, 1)], []]
    """
    return list(bags(corpus))


def bags(corpus: Any) -> Iterator[Bag]:
    """The bags of ``to_gensim_corpus``, one after the other."""
    for tokens in _documents(corpus):
        words, times = np.unique(tokens, return_counts=True)
        yield list(zip(words.tolist(), times.tolist(), strict=True))


def _words(corpus: Any) -> list[str]:
    if isinstance(corpus, Corpus):
        return [str(word) for word in corpus.words]
    if not is_model(corpus):
        raise ModelError(f"this is {type(corpus).__name__}; pass a topoi.Corpus, a fitted model, or topoi.view(file)")
    return words_of(corpus)


def _documents(corpus: Any) -> Iterator[NDArray[Any]]:
    """Word numbers of one document after the other; of a view, without reading texts and topics."""
    if isinstance(corpus, ModelView):
        yield from _stored_documents(corpus.store)
        return
    _words(corpus)
    whole = corpus if isinstance(corpus, Corpus) else corpus.corpus_
    for first, last in itertools.pairwise(whole.doc_start.tolist()):
        yield whole.tokens[first:last]


def _stored_documents(store: Store) -> Iterator[NDArray[Any]]:
    width, n_words = store.sizes.word_id_bytes, store.sizes.n_words
    query = "SELECT document_id, word_ids FROM document_token ORDER BY document_id"
    expected = 0
    for rows in store.blocks(query, limits=store.sizes.limits):
        for number, blob in rows:
            tokens = np.frombuffer(blob, f"<u{width}") if len(blob) % width == 0 else None
            if number != expected or tokens is None or int(tokens.max(initial=0)) >= n_words:
                raise CorpusError(f"the words of document {expected} are damaged", store.path)
            yield tokens
            expected += 1
