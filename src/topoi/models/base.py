"""The base of every fitted model: saving, serialising, and access to its corpus."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.blocks import Table
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.loop import SweepInfo
from topoi.errors import ModelError
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.contract import DocumentsLike
from topoi.models.editing.records import Edit

# Never restored from a file: a stored `checkpoint` path could make `load` write anywhere.
NOT_SAVED = frozenset({"checkpoint", "progress", "executor", "shared_folder"})
# Settings that may change between a checkpoint and its continuation, as they do not affect the chains.
FREE_TO_CHANGE = frozenset(
    {"n_iter", "n_jobs", "executor", "shared_folder", "progress", "checkpoint", "checkpoint_every", "random_state"}
)
# Settings of what is computed from the chains; they do not affect the chains themselves.
ABOUT_ESTIMATES = frozenset({"average"})


class HasPath(Protocol):
    """A store: something with the path of its file."""

    @property
    def path(self) -> Path:
        """The file."""
        ...


class FittedModel(BaseEstimator):
    """A model that can be fitted to a corpus and saved. Subclasses for a way of fitting add ``_state`` and ``_load``.

    ``_settings`` are the settings at the time of the fit; those set later apply to the next fit.
    """

    # Whether topics hang on a graph, and whether documents have hidden mixtures of topics.
    has_graph = False
    has_mixtures = True
    corpus_: Corpus
    n_iter_: int
    fit_info_: dict[str, Any]
    trace_: pd.DataFrame
    _seed: int
    _settings: dict[str, Any]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        return shown | {"text/html": self._repr_html_inner()} if "text/html" in shown else shown

    def _repr_html_inner(self) -> str:
        """Fitted, the topics; before that what scikit-learn shows of any estimator."""
        if getattr(self, "n_iter_", None) is None:
            return str(super()._repr_html_inner())
        from topoi.models.notebook import model_html

        return model_html(self)

    @property
    def catalogue_(self) -> CorpusCatalogue:
        """Authors and titles of the documents."""
        check_is_fitted(self, "n_iter_")
        return CorpusCatalogue(self.corpus_)

    def save(
        self, path: str | Path | HasPath, name: str | None = None, corpus: bool = True, replace_file: bool = False
    ) -> None:
        """Write the model and its corpus into a store: one SQLite file of data, nothing that could run.

        A file that is there already keeps its other models, which share the corpus; a model of the same name is
        replaced. A killed save leaves the file as it was.

        Parameters
        ----------
        path : str, Path or Store
            The file. If it holds another corpus, or is not a store, that is a ``StoreError``.
        name : str, optional
            A name for the model within the file; that of its class if not given.
        corpus : bool
            Whether to include texts and metadata. Word ids and the names of authors are always included: the counts
            follow from them. Texts that the file already holds stay there; other metadata of the documents replace
            those of the file, unless it holds other models, which is a ``StoreError``.
        replace_file : bool
            Begin a new file in place of whatever is there.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> model = topoi.LDA(2, n_iter=10, random_state=0).fit(corpus)
        >>> model.save(path)
        >>> bool((topoi.load(path).topic_word_ == model.topic_word_).all())
        True
        """
        # The one import of a later layer: the store knows how any fitted model becomes rows.
        from topoi.store.save import save_fitted

        check_is_fitted(self, "n_iter_")
        save_fitted(self, path, name, corpus, replace_file)

    def to_bundle(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The model as JSON-able settings and plain arrays: with its corpus, all that it is rebuilt from.

        Examples
        --------
        >>> import topoi
        >>> meta, arrays = topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).to_bundle()
        >>> meta["model"], len(arrays["chain0_topic"])
        ('LDA', 6)
        """
        meta, arrays = self.bundle_pieces()
        return meta, {name: np.asarray(array) for name, array in arrays.items()}

    def bundle_pieces(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        """``to_bundle`` with arrays that may be in pieces."""
        check_is_fitted(self, "n_iter_")
        progress, arrays = self._state()
        settings = self._plain_settings(self._settings)
        meta = {
            "model": type(self).__name__,
            "settings": settings,
            "progress": progress,
            "fit_info": self.fit_info_,
        }
        return meta | self._more_meta(), arrays

    def update(
        self,
        X: DocumentsLike,
        n_iter: int = 100,
        spare_topics: int = 0,
        *,
        min_df: int | None = 2,
        known: str = "error",
        callback: Callable[[SweepInfo], Any] | None = None,
    ) -> Self:
        """Take in new documents; a family that cannot raises a ``ModelError`` that says what to do instead."""
        check_is_fitted(self, "n_iter_")
        raise ModelError(
            f"{type(self).__name__} cannot take in new documents; fit it to all: "
            "model.fit(model.corpus_.extended(new_corpus))"
        )

    @property
    def edits_(self) -> list[Edit]:
        """Edits by hand, the first one first, those that were undone included; see ``topoi.edit``."""
        check_is_fitted(self, "n_iter_")
        return []

    def why_not_edited(self) -> str | None:
        """Reason why topics cannot be edited by hand (``topoi.edit``); None if they can."""
        check_is_fitted(self, "n_iter_")
        return "its words have no topics of their own, one each, that could be moved"

    def _more_meta(self) -> dict[str, Any]:
        """Additions of a family to the JSON of ``to_bundle``."""
        return {}

    def _plain_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings as JSON can hold them; families override this where ``plain_settings`` would lose information."""
        return plain_settings(settings)

    def family_tables(self, corpus: Corpus) -> dict[str, Table]:
        """The family's own tables in a store, by table and column, beside those of all models with topics."""
        check_is_fitted(self, "n_iter_")
        return {}

    def family_parameters(self) -> dict[str, Any]:
        """The family's own fitted numbers that are in none of the store's tables, for readers of the store."""
        check_is_fitted(self, "n_iter_")
        return {}

    def identity_of_fit(self) -> dict[str, Any]:
        """Identity of the fit besides corpus and settings: topic labels survive a save as long as it stays the same."""
        check_is_fitted(self, "n_iter_")
        return {"model": type(self).__name__, "seed": self._seed}

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        """Serialised state of the fit: progress, as JSON can hold it, and plain arrays."""


def plain_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as JSON can hold them, without ``NOT_SAVED``; generators become None (the seed is kept elsewhere)."""
    return {name: None if name in NOT_SAVED else _plain_value(value) for name, value in settings.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic | pd.Series):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    if isinstance(value, list | tuple):
        return [_plain_value(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _plain_value(each) for name, each in value.items()}
    if hasattr(value, "to_plain"):
        return value.to_plain()
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        raise ModelError(f"a setting has the value {value!r}, which cannot be saved") from None
