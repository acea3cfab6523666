"""Parts of a fitted model that other programs read; the same for a model in memory and a view of one in a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.analysis.given import class_name, need_topics
from topoi.errors import ModelError
from topoi.evaluation.topic_words import is_model
from topoi.models.contract import InStore
from topoi.models.posterior import Posterior
from topoi.models.ranking import largest
from topoi.models.smoothed_counts import blocks
from topoi.models.validation import whole_number
from topoi.store.view import ModelView

# Less than half a token of a word is not listed among a topic's words, as in a store.
_LISTED = 0.5


def posterior_of(model: Any) -> Posterior:
    """The first, best chain of a model with topics; anything else is a ``ModelError``."""
    if not is_model(model):
        raise ModelError(f"this is {type(model).__name__}; pass a fitted model, or topoi.view(file)")
    need_topics(model, "other programs are given topics")
    found: Posterior = model.chains_[0]
    return found


def words_of(model: Any) -> list[str]:
    """The words by number."""
    return [str(word) for word in model.vocabulary_.words]


def identifiers(model: Any) -> list[str]:
    """The documents' ids by number."""
    catalogue = model.catalogue_
    return [str(each) for each in catalogue.document_columns(np.arange(catalogue.size))["id"]]


def doc_lengths(posterior: Posterior) -> NDArray[np.int64]:
    """Number of words of each document."""
    return np.diff(posterior.source.doc_start)


def mixtures(model: Any) -> NDArray[np.float64]:
    """P(topic | document), documents × topics, rows that sum to one."""
    empty = np.zeros((0, posterior_of(model).n_topics))
    return np.concatenate([empty, *mixture_blocks(model)])


def mixture_blocks(model: Any) -> Iterator[NDArray[np.float64]]:
    """Rows of ``mixtures``, some documents at a time.

    A document without words that has no mixture of its own, as where there is no prior, has that of the collection.
    """
    posterior = posterior_of(model)
    whole = None
    if not posterior.mixtures_are_counts:
        # A store has these mixtures as rows, in half precision.
        whole = posterior.mixtures if isinstance(model, InStore) else posterior.doc_topic
    for part in blocks(len(posterior.source.doc_start) - 1):
        rows = posterior.mixture_range(part.start, part.stop) if whole is None else whole[part]
        shares = np.array(rows, np.float64)
        shares[~(shares.sum(axis=1) > 0.0)] = posterior.topic_totals
        yield shares / shares.sum(axis=1, keepdims=True)


def topic_words(model: Any) -> NDArray[np.float64]:
    """P(word | topic), topics × words, rows that sum to one."""
    found = posterior_of(model).topic_word
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def leading_words(model: Any, n_words: int) -> list[list[str]]:
    """The most probable words of each topic, at most ``n_words`` of those of which the topic has a token."""
    posterior, words = posterior_of(model), words_of(model)
    probability = np.zeros((posterior.n_topics, len(words)))
    for part in blocks(len(words)):
        here = np.arange(part.start, part.stop)
        has_tokens = posterior.source.word_rows(here).T >= _LISTED
        probability[:, part] = np.where(has_tokens, posterior.word_columns(here), 0.0)
    best = largest(probability, whole_number("n_words", n_words))
    return [[words[w] for w in row if probability[k, w] > 0.0] for k, row in enumerate(best)]


def tokens_and_topics(model: Any) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Word numbers and topics of each document's tokens, in the last sample, one document after the other."""
    posterior = posterior_of(model)
    if not posterior.tokens_have_topics:
        raise ModelError(
            f"{class_name(model)} gives documents mixtures and no single word a topic, so there is no state to write; "
            "write its keys and doc-topics, or fit a model by Gibbs sampling"
        )
    documents = map(posterior.source.document, range(len(posterior.source.doc_start) - 1))
    return ((document.tokens, document.assignments.topic) for document in documents)


def priors(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Alpha by topic and beta by word, with the digits that were given wherever they were not learned.

    Samplers hold them in float32, in which 0.01 is 0.009999999776.
    """
    posterior = posterior_of(model)
    settings = model.settings if isinstance(model, ModelView) else model.get_params(deep=False)
    alpha = _as_given(posterior.alpha, settings.get("alpha"))
    return alpha, _as_given(posterior.beta, settings.get("beta"))


def _as_given(used: NDArray[np.float64], given: Any) -> NDArray[np.float64]:
    narrow = used.astype(np.float32)
    try:
        wide = np.broadcast_to(np.asarray(given, np.float64), used.shape)
    except (TypeError, ValueError, OverflowError):  # settings of a file may be anything
        wide = np.full(used.shape, np.nan)
    with np.errstate(over="ignore"):
        if np.array_equal(wide.astype(np.float32), narrow):
            return np.array(wide)
    # The shortest digits that are this float32: 0.01 rather than 0.009999999776.
    exact = narrow.astype(np.float64) == used
    return np.where(exact, np.array([float(str(each)) for each in narrow]), used)
