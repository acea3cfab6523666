"""Settings that guide documents: labels, and topics that single documents may not have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.guidance.guidance import Guidance
from topoi.models.validation import whole_number

DocLabels: TypeAlias = "str | Sequence[Any] | Mapping[str, Any]"
DocumentsOfTopics: TypeAlias = Mapping[int | str, Sequence[int | str]]


def documents_told(settings: Mapping[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Settings about documents by their ids, which stay the same when documents are added or put into another order.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.guidance.documents import documents_told
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]])
    >>> documents_told({"doc_labels": [["x"], None], "doc_ban": {1: [0]}}, corpus)
    {'doc_labels': {'0': ['x']}, 'doc_ban': {1: ['0']}}
    """
    found: dict[str, Any] = {}
    labels, ban = settings.get("doc_labels"), settings.get("doc_ban")
    ids = corpus.documents["id"].tolist() if labels is not None or ban else []
    if labels is not None and not isinstance(labels, str | Mapping):
        given = zip(ids, labels_of(labels, corpus), strict=True)
        found["doc_labels"] = {key: own for key, own in given if own is not None}
    if ban:
        found["doc_ban"] = {k: [d if isinstance(d, str) else ids[d] for d in docs] for k, docs in ban.items()}
    return found


def limits_documents(settings: Mapping[str, Any]) -> bool:
    """Whether a model with these settings was told that some documents may not have all topics.

    Examples
    --------
    >>> from topoi.models.guidance.documents import limits_documents
    >>> limits_documents({"doc_labels": "label"}), limits_documents({"doc_labels": None, "doc_ban": {}})
    (True, False)
    """
    return settings.get("doc_labels") is not None or bool(settings.get("doc_ban"))


def labels_of(given: Any, corpus: Corpus) -> list[list[str] | None]:
    """Labels of each document; None for a document that may have all topics."""
    if isinstance(given, str):
        if given not in corpus.documents.columns:
            known = ", ".join(map(repr, corpus.documents.columns))
            raise ModelError(f"doc_labels is {given!r}, which is no column of the documents; there are {known}")
        values: list[Any] = corpus.documents[given].tolist()
    elif isinstance(given, Mapping):
        values = [given.get(key) for key in corpus.documents["id"].tolist()]
    else:
        values = list(given)
        if len(values) != corpus.n_docs:
            raise ModelError(f"doc_labels has {len(values)} entries, but there are {corpus.n_docs} documents")
    return [_label_list(value, d, corpus) for d, value in enumerate(values)]


def _shown(corpus: Corpus, document: int) -> str:
    """A document's number, and its id if that is another."""
    own = str(corpus.documents["id"].iloc[document])
    return str(document) if own == str(document) else f"{document} ({own!r})"


def _label_list(value: Any, document: int, corpus: Corpus) -> list[str] | None:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, Iterable) or not all(isinstance(each, str) and each for each in listed):
        raise ModelError(
            f"document {_shown(corpus, document)} has the labels {value!r}; pass a list of names, [] for none, None "
            "for all"
        )
    return list(listed)


def topic_sets(
    corpus: Corpus,
    labels: list[list[str] | None] | None,
    names: Sequence[str],
    n_topics: int,
    doc_ban: dict[int, Any],
) -> tuple[NDArray[np.bool_] | None, NDArray[np.int32] | None]:
    """Distinct sets of allowed topics and each document's; None if every document may have all."""
    if labels is None and not doc_ban:
        return None, None
    out = _banned_documents(doc_ban, corpus)
    labelled = {name for each in labels or () for name in each or ()}
    number = {name: k for k, name in enumerate(names)}
    shared = np.array([k >= len(names) or names[k] not in labelled for k in range(n_topics)])
    sets: dict[tuple[Any, Any], int] = {}
    rows: list[NDArray[np.bool_]] = []
    doc_set = np.zeros(corpus.n_docs, np.int32)
    for d in range(corpus.n_docs):
        own = None if labels is None else labels[d]
        key = None if own is None else frozenset(own), out.get(d)
        if key not in sets:
            row = np.ones(n_topics, bool) if own is None else shared.copy()
            row[[number[name] for name in own or ()]] = True
            row[list(out.get(d, ()))] = False
            sets[key] = len(rows)
            rows.append(row)
        doc_set[d] = sets[key]
    allowed = np.stack(rows) if rows else np.ones((1, n_topics), bool)
    return allowed, doc_set


def _banned_documents(doc_ban: dict[int, Any], corpus: Corpus) -> dict[int, frozenset[int]]:
    """Topics that documents may not have, by number of the document."""
    places: dict[str, int] = {}
    found: dict[int, set[int]] = {}
    for k, given in doc_ban.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ModelError(f"doc_ban[{k}] is {given!r}; pass a list of documents, by id or number")
        for document in given:
            if isinstance(document, str):
                places = places or {key: d for d, key in enumerate(corpus.documents["id"].tolist())}
                # Documents that are not there are left out: a part of the corpus has the same settings.
                d = places.get(document, -1)
            else:
                d = whole_number(f"doc_ban[{k}]", document, 0)
                if d >= corpus.n_docs:
                    raise ModelError(f"doc_ban[{k}] has document {d}; there are {corpus.n_docs}")
            if d >= 0:
                found.setdefault(d, set()).add(k)
    return {d: frozenset(topics) for d, topics in found.items()}


def check_sets(guidance: Guidance, corpus: Corpus) -> None:
    """Raise an error for a document with a word that none of its topics can have."""
    allowed, doc_set, phantoms = guidance.allowed, guidance.doc_set, guidance.phantoms
    assert allowed is not None and doc_set is not None
    lengths = np.diff(corpus.doc_start)
    empty = ~np.asarray((allowed & ~phantoms.retired).any(axis=1))
    lost = np.flatnonzero(empty[doc_set] & (lengths > 0))
    if len(lost):
        raise ModelError(
            f"document {_shown(corpus, lost[0])} may have no topic at all: all are shut by its labels or bans; "
            "leave at least one topic without a label, or allow it more"
        )
    guided = np.unique(phantoms.banned_word)
    guided = guided[np.bincount(phantoms.banned_word)[guided] > phantoms.retired.sum()]
    can = np.asarray(phantoms.rows(guided, np.ones(corpus.n_words)) >= 0)
    for w, row in zip(guided.tolist(), can, strict=True):
        stuck = ~np.asarray((allowed & row).any(axis=1))
        if not stuck.any():
            continue
        at = np.flatnonzero(np.asarray(corpus.tokens) == w)
        docs = np.searchsorted(corpus.doc_start, at, "right") - 1
        bad = docs[stuck[doc_set[docs]]]
        if len(bad):
            raise ModelError(
                f"document {_shown(corpus, bad[0])} has the word {corpus.words[w]!r}, which none of the "
                "topics that its labels allow can have: allow the word or the document one of the others"
            )
