"""What people hand to an evaluation, checked: a fitted model that can do what is asked of it."""

from __future__ import annotations

from typing import Any, cast

from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.inputs import align
from topoi.models.validation import resolve_seed


def checked_model(model: Any) -> Any:
    """The model, if it is fitted and can give documents a probability."""
    if not hasattr(model, "log_likelihood"):
        raise ModelError(f"{type(model).__name__} cannot score documents; pass a fitted model, or topoi.load(file)")
    check_is_fitted(model, "n_iter_")
    return model


def has_mixtures(model: Any, needed: str = "log_likelihood") -> bool:
    """Whether documents have hidden mixtures of topics, so that an estimator is needed; otherwise they are exact.

    A family that has them, but not the method ``needed`` in its chains, is refused.
    """
    if not getattr(model, "has_mixtures", True):
        return False
    chains = getattr(model, "chains_", [])
    if not chains or not all(hasattr(chain, needed) for chain in chains) or not hasattr(model, "read_documents"):
        raise ModelError(f"{type(model).__name__} does not have this estimator; use its own log_likelihood")
    return True


def known_part(model: Any, corpus: Any) -> Corpus:
    """The documents with the words and authors that the model knows, in its numbers."""
    if hasattr(model, "read_documents"):
        return cast(Corpus, model.read_documents(corpus)[0])
    return align(corpus, model.vocabulary_, model.authors_).corpus


def seed_of(model: Any, random_state: Any) -> int:
    """The seed that was asked for, or that of the fit."""
    return int(model.fit_info_["seed"]) if random_state is None else resolve_seed(random_state)
