"""Model files: reading a fitted model. A file names its model's class, which must be in the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from topoi.errors import StoreError
from topoi.models.base import NOT_SAVED
from topoi.models.posterior import Posterior
from topoi.models.registry import find, models
from topoi.store.read import StoredModel
from topoi.store.store import Store


def load(path: str | Path | Store, name: str | None = None) -> Any:
    """Read a fitted model from a file that ``model.save`` wrote: the same posterior to the last bit.

    Parameters
    ----------
    path : str, Path or Store
        The file. A missing, damaged, foreign or newer one is a ``StoreError``.
    name : str, optional
        Which of the file's models; the one saved last if not given. An unknown name is a ``NotFoundError`` that lists
        those there are.

    Returns
    -------
    fitted model
        Of the class that was saved, with its corpus in ``corpus_``.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, authors=["Ann", "Bob"] * 5)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.AuthorTopicModel(2, n_iter=10, random_state=0).fit(corpus).save(path)
    >>> topoi.load(path).authors_.tolist()
    ['Ann', 'Bob']
    """
    if isinstance(path, Store):
        return rebuilt(path.path, path.read_model(name))
    with Store(path) as store:
        return rebuilt(store.path, store.read_model(name))


def rebuilt(path: Path, stored: StoredModel) -> Any:
    """The fitted model of settings and arrays from a file."""
    known = find(stored.model)
    if known is None or stored.meta.get("model") != stored.model:
        names = ", ".join(sorted(models()))
        raise StoreError(f"{path} holds a model of an unknown kind, {stored.model!r}; known: {names}")
    try:
        model = known.model_class(**stored.meta["settings"])
        model.set_params(**dict.fromkeys(NOT_SAVED & model.get_params(deep=False).keys()))
        model.restore_bundle(stored.corpus, stored.meta, stored.arrays)
        first = next(iter(model.chains_), None)
        if isinstance(first, Posterior):
            first.remember_labels(stored.labels)
            first.remember_names(stored.names, len(model.edits_))
        return model
    except StoreError:
        raise
    except Exception as error:  # anything that a foreign file's numbers can lead to
        raise StoreError(f"{path} is damaged: {error}") from error
