"""Validation of the inputs of evaluations: fitted models, documents, seeds."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.models.contract import DocumentsLike, HasChains, LoadedModel, MetadataLike, Scores, SeedLike
from topoi.models.inputs import align, restrict
from topoi.models.notices import warn_user
from topoi.models.scores import largest_shape
from topoi.models.validation import resolve_seed


def checked_model(model: LoadedModel) -> Any:
    """The model, if it is fitted and can give documents a probability."""
    if not isinstance(model, Scores):
        raise ModelError(f"{type(model).__name__} cannot score documents; pass a fitted model, or topoi.load(file)")
    check_is_fitted(model, "n_iter_")
    return model


def no_error(shape: float, n_samples: int) -> str:
    """Note on why draws with this Pareto shape (``models.scores``) give no standard error, and what to use instead."""
    if np.isnan(shape):
        why = "samples may have missed an explanation, since an alpha is below 1"
    elif np.isfinite(shape):
        why = f"the Pareto shape of the samples' weights is {shape:.2f}, above {largest_shape(n_samples):.2f}"
    else:
        why = f"too few of {n_samples} samples count"
    return f"no error: {why}; use model.log_likelihood (of Dirichlet mixtures, the particle filter)"


class Readable(NamedTuple):
    """Documents in a model's word ids, the same as its chains read them, and the chains."""

    corpus: Corpus
    documents: Documents
    chains: list[Any]


def read(
    model: LoadedModel, corpus: DocumentsLike, metadata: MetadataLike | None, needed: type, instead: str
) -> Readable | None:
    """Read documents and chains, with authors or metadata; None if the model has no mixtures to integrate out.

    A family whose chains are not ``needed`` (a protocol) is refused; ``instead`` ends the error message.
    """
    if not model.has_mixtures:
        if metadata is not None:
            raise ModelError(f"{type(model).__name__} reads no metadata; leave out metadata=")
        return None
    if not isinstance(model, HasChains) or not model.chains_:
        raise ModelError(f"{type(model).__name__} does not have this estimator; use its own log_likelihood")
    found = Readable(*model.documents_and_chains(corpus, metadata))
    if not all(isinstance(chain, needed) for chain in found.chains):
        raise ModelError(f"{type(model).__name__} does not have this estimator; {instead}")
    return found


def known_part(model: Any, corpus: Any) -> Corpus:
    """Restrict documents to the words and authors that the model knows, in its ids."""
    if model.has_mixtures:
        return cast(Corpus, model.read_documents(corpus)[0])
    return align(corpus, model.vocabulary_, model.authors_).corpus


def seed_of(model: LoadedModel, random_state: SeedLike) -> int:
    """Resolve ``random_state`` to a seed; None is the seed of the fit."""
    return int(model.fit_info_["seed"]) if random_state is None else resolve_seed(random_state)


def shared_words(models: list[Any], corpus: Corpus) -> Corpus:
    """Restrict the corpus to the words that every model knows."""
    first = models[0].vocabulary_
    others = [m.vocabulary_ for m in models[1:] if not np.array_equal(m.vocabulary_.words, first.words)]
    shared = Vocabulary([w for w in first.words if all(w in other for other in others)]) if others else first
    same = restrict(corpus, shared)
    if same.n_tokens == 0 and corpus.n_tokens:
        raise ModelError("none of these documents' words is known to all models: they cannot be compared")
    lost = corpus.n_tokens - same.n_tokens
    if others:
        warn_user(
            f"the models have different vocabularies: all are judged by the {len(shared.words):,} words that they "
            f"share, without {lost:,} of {corpus.n_tokens:,} tokens; fit classes on subsets of one corpus to lose none"
        )
    elif lost:
        warn_user(f"{lost:,} of {corpus.n_tokens:,} tokens are words that the models do not know: they are left out")
    return same
