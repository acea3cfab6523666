"""Small runs that have everything compiled that fits, questions and pages need."""

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

# Enough for every kernel to have something to do: documents of one author, of two and of three.
_SUBJECTS = ("ship harbor sail anchor captain", "wheat harvest plough farmer barley", "judge verdict trial jury appeal")
_PEOPLE = ("Drake", "Cook", "Tull", "Coke")
_N_DOCS = 24
# Enough sweeps to average samples and to learn; families bring enough topics to look for background topics among them.
_QUICK = {"n_iter": 40, "random_state": 0, "n_jobs": 1, "progress": False}
_TEXT = "The captain of the ship sailed with wheat and barley"


def write_documents(folder: Path) -> Path:
    """A file of small documents, for ``read`` and the fits."""
    path = folder / "documents.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for i in range(_N_DOCS):
            words = (_SUBJECTS[i % 3].split() * 4)[i % 5 :]
            authors = [_PEOPLE[(i + j) % len(_PEOPLE)] for j in range(1 + i % 3)]
            record = {"id": str(i), "title": f"Paper {i}", "text": " ".join(words), "authors": authors}
            lines.write(json.dumps(record | {"year": 1900 + i}) + "\n")
    return path


def read(folder: Path) -> Any:
    """The corpus of the small documents."""
    import topoi

    return topoi.read_corpus(write_documents(folder), min_df=1, max_df=1.0)


def fit(folder: Path, model: Model) -> Path:
    """A small model, saved."""
    path = folder / f"{model.option}.topoi"
    fitted = model.model_class(**model.small, **_QUICK).fit(read(folder))
    if not path.exists():
        fitted.save(path)
    return path


def label(path: Path, authors: tuple[str, ...] = ()) -> None:
    """Words of a text with their topics, by these authors or by somebody new."""
    import topoi

    topoi.label_words(topoi.view(path), _TEXT, authors=list(authors) or None)


def similar(path: Path) -> None:
    """Authors who write about the same."""
    import topoi

    topoi.similar_authors(topoi.view(path), _PEOPLE[0])


def reviewers(path: Path) -> None:
    """Who could review a text."""
    import topoi

    topoi.recommend_reviewers(topoi.view(path), _TEXT)


def pages(path: Path) -> None:
    """The pages of the browser that compile something."""
    from topoi.web.app import make_app
    from topoi.web.run import warm

    warm(make_app(path))


def questions(path: Path) -> None:
    """What is asked of a model with authors."""
    label(path)
    label(path, _PEOPLE[:2])
    similar(path)
    reviewers(path)


def ask(model: Model, path: Path) -> None:
    """What is first asked of such a model."""
    (questions if "authors" in model.gives else label)(path)


def steps(chosen: list[Model], folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is to be run, in order, each with a name to show."""
    has_browser = find_spec("fastapi") is not None and find_spec("jinja2") is not None
    yield "reading a corpus", partial(read, folder)
    for model in chosen:
        yield f"{model.option}: fit", partial(fit, folder, model)
        path = folder / f"{model.option}.topoi"
        if model.stored:
            yield f"{model.option}: questions", partial(ask, model, path)
        if has_browser:
            yield f"{model.option}: pages", partial(pages, path)


@contextmanager
def quietly() -> Iterator[None]:
    """Without what such small models would have said."""
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
    """Where compiled kernels are kept: in folders of the package, or in one that numba keeps for the user.

    None if nowhere.
    """
    from topoi.kernels.random import seed_stream

    where = seed_stream.stats.cache_path  # type: ignore[attr-defined]
    if where is None:
        return None
    # Each group of modules has a folder: beside its source, or all of them in one.
    return Path(where).parents[1] if Path(where).name == "__pycache__" else Path(where).parent
