"""Model files: data in, model out. A file names its model; only the names below are known."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from topoi.corpus.corpus import Corpus
from topoi.engine.bundle import read_bundle
from topoi.errors import StoreError
from topoi.models.gibbs import NOT_SAVED

_HOME = {
    "AuthorTopicModel": "topoi.models.author_topic.estimator",
    "LDA": "topoi.models.author_topic.estimator",
    "AuthorModel": "topoi.models.author_topic.author_model",
}


def load(path: str | Path) -> Any:
    """Read a fitted model from a file that ``model.save`` wrote: the same posterior to the last bit.

    Parameters
    ----------
    path : str or Path
        The file. A missing, damaged, foreign or newer one is a ``StoreError``.

    Returns
    -------
    The model, of the class that was saved, with its corpus in ``corpus_``.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, authors=["Ann", "Bob"] * 5)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.AuthorTopicModel(2, n_iter=10, random_state=0).fit(corpus).save(path)
    >>> topoi.load(path).authors_.tolist()
    ['Ann', 'Bob']
    """
    bundle = read_bundle(path, "model")
    try:
        name = bundle.meta["model"]
        if name not in _HOME:
            raise StoreError(f"{path} holds a model of an unknown kind, {name!r}; known: {', '.join(sorted(_HOME))}")
        family = getattr(import_module(_HOME[name]), name)
        prefix = "corpus_"
        arrays = {k[len(prefix) :]: a for k, a in bundle.arrays.items() if k.startswith(prefix)}
        corpus = Corpus.from_bundle(bundle.meta["corpus"], arrays)
        model = family(**bundle.meta["settings"]).set_params(**NOT_SAVED)
        return model._load(corpus, bundle.meta, bundle.arrays)
    except StoreError:
        raise
    except Exception as error:  # whatever a stranger's numbers lead to
        raise StoreError(f"{path} is damaged: {error}") from error
