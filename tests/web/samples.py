"""Small collections and their stores for the tests of the browser."""

from __future__ import annotations

import random
from pathlib import Path

import topoi

SUBJECTS = {
    "stars": "star galaxy orbit planet telescope light comet moon",
    "cells": "cell gene protein membrane tissue enzyme virus plasma",
    "courts": "court judge law appeal verdict jury statute trial",
}
PEOPLE = {
    "stars": ["Åström, Eva", "Kepler, J", "Sagan, C"],
    "cells": ["Crick, F", "Franklin, R", "Jordan, M"],
    "courts": ["Holmes, O", "Jordan, Ann", "Warren, E"],
}


def ordinary_corpus(n: int = 60, **changes: object) -> topoi.Corpus:
    """Documents on three subjects, by one to three authors, over ten years."""
    chance = random.Random(0)
    texts, authors, titles, years = [], [], [], []
    for d in range(n):
        subject = list(SUBJECTS)[d % 3]
        words = SUBJECTS[subject].split()
        sentences = [" ".join(chance.choices(words, k=6)).capitalize() + " of the kind." for _ in range(5)]
        texts.append("\n\n".join(sentences))
        authors.append(chance.sample(PEOPLE[subject], chance.randint(1, 3)))
        titles.append(f"On {words[d % len(words)]} and {words[(d + 3) % len(words)]}, part {d}")
        years.append(1990 + d // 6)
    options: dict[str, object] = {
        "authors": authors,
        "titles": titles,
        "dates": years,
        "metadata": {"venue": ["ACL", "NIPS"] * (n // 2)},
        "min_df": 1,
        "max_df": 1.0,
    }
    return topoi.Corpus.from_texts(texts, **{**options, **changes})


SCRIPT = "<script>alert('x')</script>"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE document; --",
    "{{ 7 * 7 }} {% raw %}",
    "=cmd|' /C calc'!A0",
    "</textarea></title></svg><script src=//evil.example></script>",
    "javascript:alert(1)",
    "שלום עולם مرحبا بالعالم",
    "😀🧪 family 👨‍👩‍👧‍👦",
    "x\u202egnihton\u202c \ufeff",
]


def hostile_corpus() -> topoi.Corpus:
    """The same with everything a stranger could put into a file."""
    plain = ordinary_corpus(30)
    texts, titles, authors = list(plain.texts), [], []
    for d in range(30):
        bad = HOSTILE[d % len(HOSTILE)]
        texts[d] = f"{bad} {texts[d]} {bad}"
        titles.append(bad)
        authors.append([f"{HOSTILE[(d + 1) % len(HOSTILE)]} {d % 3}"])
    titles[3] = "long title " * 100_000
    titles[4] = ""
    authors[5] = [f"{SCRIPT} {a}" for a in range(20)]
    return topoi.Corpus.from_texts(
        texts,
        authors=authors,
        titles=titles,
        ids=[f"{d} {HOSTILE[d % len(HOSTILE)]}" for d in range(30)],
        dates=[1990 + d // 3 for d in range(30)],
        metadata={SCRIPT: [HOSTILE[d % len(HOSTILE)] for d in range(30)]},
        min_df=1,
        max_df=1.0,
    )


def fit(family: type, corpus: topoi.Corpus, *given: object, **options: object) -> object:
    return family(*given, **{"n_iter": 20, "random_state": 1, **options}).fit(corpus)


def save_all(corpus: topoi.Corpus, path: Path) -> Path:
    """A store with a model of every family."""
    fit(topoi.AuthorModel, corpus).save(path, name="authors only")
    fit(topoi.LDA, corpus, 4, alpha=0.1).save(path, name="four topics")
    fit(topoi.AuthorTopicModel, corpus, 5, alpha=0.1, fictitious_authors=True).save(path, name="with private authors")
    fit(topoi.AuthorTopicModel, corpus, 6, alpha=0.1, n_chains=2).save(path, name="who & what/é")
    return path


# A graph whose edges skip levels, with an inner node that draws words, and a name that must be escaped.
FREE = [
    ("root", "sky & <b>earth</b>"),
    ("root", "life"),
    ("root", "law"),
    ("sky & <b>earth</b>", "stars"),
    ("life", "cells"),
    ("life", "stars"),
    ("law", "courts"),
    ("law", "cells"),
    ("law", topoi.WORDS),
    ("root", "deep"),
    ("deep", "deeper"),
    ("deeper", "courts"),
    ("deeper", "stars"),
]


def save_graphs(corpus: topoi.Corpus, path: Path) -> Path:
    """A store with a model that has no graph, one over a free graph, and one of four levels."""
    fit(topoi.LDA, corpus, 3, alpha=0.1).save(path, name="lda")
    fit(topoi.PachinkoAllocation, corpus, dag=topoi.Dag.from_edges(FREE)).save(path, name="free")
    fit(topoi.PachinkoAllocation, corpus, 4, 6).save(path, name="four")
    return path


def linked_corpus(n: int = 60) -> topoi.Corpus:
    """The ordinary one, whose documents cite others, mostly of their subject."""
    chance = random.Random(0)
    ids = [f"doc {d}" for d in range(n)]
    cites = [
        [ids[e] for e in chance.sample(range(n), 9) if e != d and (e % 3 == d % 3 or e % 7 == 0)] for d in range(n)
    ]
    known = {
        "venue": ["ACL", "NIPS"] * (n // 2),
        "pages": [[6.5, 7.5, 8.5, 7.5][d % 4] for d in range(n)],
        "cites": cites,
    }
    return ordinary_corpus(n, ids=ids, metadata=known)


def save_featured(path: Path) -> Path:
    """A store with a model that reads no metadata, and two that do."""
    corpus = linked_corpus()
    fit(topoi.LDA, corpus, 3, alpha=0.1).save(path, name="lda")
    settings = {"features": ["year", "authors", "venue", "cites"], "n_iter": 60, "n_warmup": 20}
    fit(topoi.DirichletMultinomialRegression, corpus, 3, **settings).save(path, name="regression")
    kernel = topoi.Proximity(length_scale=[3.0, 1.0, 2.0, 4.0, 30.0])
    features = ["date", "authors", "venue", "pages", "cites"]
    settings = {"features": features, "kernel": kernel, "learn_kernel": False, "n_warmup": 10}
    fit(topoi.KernelTopicModel, corpus, 3, **settings).save(path, name="kernel")
    return path
