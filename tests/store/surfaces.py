"""Everything that reads a store, as questions to ask of a file that may be damaged."""

from __future__ import annotations

import contextlib
import io
import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import topoi
from topoi.cli.main import main
from topoi.web.app import make_app
from topoi.web.export import Limits, export_site

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

TEXT = "stars and genes make cells"
AUTHOR = "Ann"
FAMILIES = {
    "texts": ("at", "lda", "am"),
    "graphs": ("four", "free"),
    "others": ("aspect", "kernel", "dmr"),
}
# A graph with an inner node that draws words, and edges that skip a level.
GRAPH = [
    ("root", "sky"), ("root", "life"), ("sky", "stars"), ("life", "cells"), ("life", "stars"), ("life", topoi.WORDS),
]  # fmt: skip


def save_stores(folder: Path, corpus: topoi.Corpus) -> dict[str, Path]:
    """One store for each group of families, with a label."""
    options = {"n_iter": 8, "random_state": 3}
    models = {
        "at": topoi.AuthorTopicModel(3, n_chains=2, alpha=0.1, **options),
        "lda": topoi.LDA(3, alpha=[0.1, 0.2, 0.1], **options),
        "am": topoi.AuthorModel(**options),
        "four": topoi.PachinkoAllocation(2, 3, **options),
        "free": topoi.PachinkoAllocation(dag=topoi.Dag.from_edges(GRAPH), **options),
        "aspect": topoi.AspectModel(3, **options),
        "kernel": topoi.KernelTopicModel(
            3, features=["year", "venue"], kernel=topoi.Proximity(length_scale=[2.0, 1.0]), learn_kernel=False,
            n_warmup=2, **options,
        ),
        "dmr": topoi.DirichletMultinomialRegression(3, features=["year", "venue"], n_warmup=2, **options),
    }  # fmt: skip
    paths = {}
    for group, names in FAMILIES.items():
        paths[group] = folder / f"{group}.topoi"
        for name in names:
            models[name].fit(corpus).save(paths[group], name=name)
    topoi.open_store(paths["texts"]).set_label("lda", 1, "harvest")
    return paths


def api_questions(path: Path, name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What a program asks of the store, of the model that is loaded and of its view."""

    def viewed(question: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: question(topoi.view(path, name))

    def load() -> None:
        model = topoi.load(path, name)
        if name != "am":
            model.top_words(3)
            topoi.document_topics(model, 0)

    yield "models", lambda: topoi.open_store(path).models()
    yield "labels", lambda: topoi.open_store(path).labels(name)
    yield "corpus", lambda: topoi.open_store(path).corpus()
    yield "sql", lambda: topoi.open_store(path).sql("SELECT * FROM document LIMIT 3")
    yield "load", load
    yield "load", load
    questions: dict[str, Callable[[Any], Any]] = {
        "repr": repr,
        "topic_sizes": lambda v: v.topic_sizes(),
        "top_words": lambda v: v.top_words(4),
        "telling_words": lambda v: v.top_words(4, topic=1, relevance=0.3),
        "top_authors": lambda v: v.top_authors(2),
        "author_topics": lambda v: v.author_topics(AUTHOR),
        "all_author_topics": lambda v: v.author_topics(),
        "transform": lambda v: v.transform([TEXT], burn_in=2, n_samples=2, lag=1),
        "topic_hues": lambda v: v.topic_hues(),
        "vocabulary": lambda v: v.vocabulary_.encode([TEXT]),
        "label_words": lambda v: topoi.label_words(v, TEXT, burn_in=2, n_samples=2, lag=1),
        "label_authors": lambda v: topoi.label_words(v, TEXT, ["Ann", "Bob"], burn_in=2, n_samples=2, lag=1),
        "label_document": lambda v: topoi.label_document(v, 1, burn_in=2, n_samples=2, lag=1),
        "topic_trends": topoi.topic_trends,
        "decades": lambda v: topoi.topic_trends(v, by="decade"),
        "similar_authors": lambda v: topoi.similar_authors(v, AUTHOR),
        "similar_documents": lambda v: topoi.similar_documents(v, 2),
        "similar_words": lambda v: topoi.similar_documents(v, 2, measure="mixture"),
        "search": lambda v: topoi.Search(v, mixtures="authors").query(TEXT, [AUTHOR], years=(1990, None)),
        "search_where": lambda v: topoi.Search(v).query(TEXT, by=AUTHOR, where={"venue": "ACL"}),
        "explain": lambda v: topoi.Search(v).explain(TEXT, 1),
        "document_topics": lambda v: topoi.document_topics(v, "title 3"),
        "topic_documents": lambda v: topoi.topic_documents(v, 1),
        "word_topics": lambda v: topoi.word_topics(v, "stars"),
        "unusual_documents": lambda v: topoi.unusual_documents(v, author=AUTHOR),
        "likely_authors": lambda v: topoi.likely_authors(v, TEXT),
        "recommend_reviewers": lambda v: topoi.recommend_reviewers(v, TEXT, exclude=["Cy"]),
        "node_trends": topoi.node_trends,
        "node_documents": lambda v: topoi.node_documents(v, 1),
        "document_nodes": lambda v: topoi.document_nodes(v, 1),
        "edges": lambda v: v.edges(),
        "node_labels": lambda v: v.node_labels(30),
        "align": lambda v: topoi.align_topics(v, v),
    }
    for what, question in questions.items():
        yield what, viewed(question)


def verbs(path: Path, name: str) -> list[list[str]]:
    """What a person types."""
    named = ["--name", name]
    return [
        ["models", str(path)],
        ["models", str(path), "--json"],
        ["topics", str(path), *named],
        ["topics", str(path), *named, "--topic", "1", "--csv"],
        ["authors", str(path), *named],
        ["authors", str(path), AUTHOR, *named],
        ["documents", str(path), *named, "--topic", "1"],
        ["documents", str(path), "title 3", *named],
        ["documents", str(path), "title 3", *named, "--similar"],
        ["words", str(path), "stars", *named],
        ["trends", str(path), *named],
        ["trends", str(path), *named, "--by", "venue"],
        ["search", str(path), TEXT, *named],
        ["search", str(path), "stars", "--author", AUTHOR, "--where", "venue=ACL", "--json", *named],
        ["similar", str(path), AUTHOR, *named],
        ["unusual", str(path), AUTHOR, *named],
        ["label", str(path), TEXT, *named],
        ["likely", str(path), TEXT, *named],
        ["reviewers", str(path), TEXT, *named],
        ["structure", str(path), *named],
        ["structure", str(path), *named, "--edges"],
        ["predict", str(path), "year=2001", "venue=ACL", *named],
        ["coefficients", str(path), *named],
        ["name", str(path), "0", "harvest", *named],
    ]


PAGES = [
    "", "topic/0", "topic/2?relevance=0", "authors", "authors?q=an", "author/0", "author/1", "documents",
    "documents?q=stars", "documents?year=2001", "document/0", "document/3?burn_in=1&samples=1&lag=1",
    "document/1?colour=author", "word/0", "trends", "trends?by=decade", "compare", "search?q=stars",
    "parse?text=stars+and+genes", "parse?document=3", "reviewers?text=stars+and+genes", "models", "structure",
    "structure/1", "metadata", "metadata?topic=1", "complete?q=st",
]  # fmt: skip
DATA = ["overview", *PAGES[1:]]


def addresses(name: str, others: list[str]) -> list[str]:
    """Every page of a model, as HTML and as data."""
    compare = [f"compare/{other}" for other in others if other != name]
    found = ["/"]
    for page in [*PAGES, *compare]:
        path, question, query = page.partition("?")
        if path != "complete":
            found.append(f"/m/{name}/{page}")
        for ending in ("json", "csv", "svg"):
            if ending != "csv" or path in ("authors", "documents", "models", "topic/0"):
                found.append(f"/m/{name}/{path or 'overview'}.{ending}{question}{query}")
    return found


class Surfaces:
    """The ways into a file, kept from one damaged file to the next as a server that runs keeps them.

    Parameters
    ----------
    path : Path
        Where the file to be asked about is put.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.client = TestClient(
            make_app(path), base_url="http://127.0.0.1:8765", follow_redirects=False, raise_server_exceptions=True
        )

    def all_questions(self, group: str, chance: random.Random) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Every question about one of the file's models, by name."""
        name = chance.choice(FAMILIES[group])
        for what, question in api_questions(self.path, name):
            yield f"api {what} of {name}", question
        for arguments in verbs(self.path, name):
            yield f"cli {' '.join(a for a in arguments if a != str(self.path))}", lambda a=arguments: run_verb(a)
        for address in addresses(name, list(FAMILIES[group])):
            yield f"web {address}", lambda a=address: self.get(a)
        yield "export", lambda: self.export()

    def get(self, address: str) -> None:
        answer = self.client.get(address)
        if answer.status_code == 500 or (answer.status_code == 503 and "retry-after" not in answer.headers):
            raise AssertionError(f"status {answer.status_code}: {answer.text[:300]}")

    def export(self) -> None:
        folder = self.path.with_name("exported")
        try:
            export_site(self.path, folder, Limits(2, 2))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def run_verb(arguments: list[str]) -> None:
    """Run a verb; its exit code says whether it was refused."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    if code not in (0, 1, 2) or "Traceback" in err.getvalue():
        raise AssertionError(f"exit code {code}: {err.getvalue()[-300:]}")
    if code and len(err.getvalue().strip().split("\n")) > 12:
        raise AssertionError(f"more than a line: {err.getvalue()[-500:]}")
