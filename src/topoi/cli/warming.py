"""Small runs that compile all kernels that fits, queries and pages need."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from topoi.models.registry import Model

# Input for every kernel: documents of one author, of two and of three.
_SUBJECTS = ("ship harbor sail anchor captain", "wheat harvest plough farmer barley", "judge verdict trial jury appeal")
_PEOPLE = ("Drake", "Cook", "Tull", "Coke")
_N_DOCS = 24
# Enough sweeps to average samples and learn priors; each family sets enough topics to search for background topics.
_QUICK = {"n_iter": 40, "random_state": 0, "n_jobs": 1, "progress": False}
_TEXT = "The captain of the ship sailed with wheat and barley"


def write_documents(folder: Path) -> Path:
    """Write a file of small documents, for ``read`` and the fits."""
    path = folder / "documents.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for i in range(_N_DOCS):
            words = (_SUBJECTS[i % 3].split() * 4)[i % 5 :]
            authors = [_PEOPLE[(i + j) % len(_PEOPLE)] for j in range(1 + i % 3)]
            record = {"id": str(i), "title": f"Paper {i}", "text": " ".join(words), "authors": authors}
            lines.write(json.dumps(record | {"year": 1900 + i}) + "\n")
    return path


def read(folder: Path) -> Any:
    """Read the corpus of the small documents."""
    import topoi

    return topoi.read_corpus(write_documents(folder), min_df=1, max_df=1.0)


def fit(folder: Path, model: Model) -> Path:
    """Fit and save a small model."""
    path = folder / f"{model.option}.topoi"
    fitted = model.model_class(**model.small, **_QUICK).fit(read(folder))
    if not path.exists():
        fitted.save(path)
    return path


def fit_many(folder: Path, model: Model) -> None:
    """Fit a model of many topics: some are sampled by other kernels."""
    model.model_class(**model.many, **_QUICK | {"n_iter": 3}).fit(read(folder))


def label(path: Path, authors: tuple[str, ...] = ()) -> None:
    """Label the words of a text, for these authors or an unknown one."""
    import topoi

    topoi.label_words(topoi.view(path), _TEXT, authors=list(authors) or None)


def similar(path: Path) -> None:
    """Find similar authors."""
    import topoi

    topoi.similar_authors(topoi.view(path), _PEOPLE[0])


def reviewers(path: Path) -> None:
    """Recommend reviewers of a text."""
    import topoi

    topoi.recommend_reviewers(topoi.view(path), _TEXT)


def pages(path: Path) -> None:
    """Request the pages of the browser that compile kernels."""
    from topoi.web.app import make_app
    from topoi.web.run import warm

    warm(make_app(path))


def questions(path: Path) -> None:
    """Run all queries of a model with authors."""
    label(path)
    label(path, _PEOPLE[:2])
    similar(path)
    reviewers(path)


def ask(model: Model, path: Path) -> None:
    """Run the queries that suit the model."""
    (questions if "authors" in model.gives else label)(path)


def place() -> None:
    """Place some documents on a map, enough of them for the kernels of large collections."""
    import numpy as np

    from topoi.drawing.document_layout import root_rows, row_places

    shares = np.random.default_rng(0).dirichlet(np.ones(8), 320)
    row, column = np.nonzero(shares)
    row_places(root_rows(iter([(row, column, shares[row, column])]), len(shares), 8, 8), n_jobs=1)


def steps(chosen: list[Model], folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the steps to run, in order, each with a name to show."""
    has_browser = find_spec("fastapi") is not None and find_spec("jinja2") is not None
    yield "reading a corpus", partial(read, folder)
    for model in chosen:
        yield f"{model.option}: fit", partial(fit, folder, model)
        if model.many:
            yield f"{model.option}: many topics", partial(fit_many, folder, model)
        path = folder / f"{model.option}.topoi"
        if model.posterior:
            yield f"{model.option}: questions", partial(ask, model, path)
        if has_browser:
            yield f"{model.option}: pages", partial(pages, path)
    yield "map of documents", place


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress log messages and warnings, which such small models cause."""
    logger = logging.getLogger("topoi")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def cache_folder() -> Path | None:
    """Folder of the kernel cache: the package's, or numba's folder for the user; None if there is none."""
    from topoi.kernels.random import seed_stream

    where = seed_stream.stats.cache_path  # type: ignore[attr-defined]
    if where is None:
        return None
    # Each package has a cache folder: a __pycache__ beside its source, or a subfolder of numba's folder for the user.
    return Path(where).parents[1] if Path(where).name == "__pycache__" else Path(where).parent
