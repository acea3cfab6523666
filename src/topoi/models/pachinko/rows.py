"""The family as rows of a store."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.mixtures import blocks, listed, whole_tokens
from topoi.models.pachinko.dag import WORDS, Dag
from topoi.models.pachinko.graph import path_bytes, slot_children
from topoi.models.pachinko.nodes import telling_words
from topoi.models.pachinko.posterior import PachinkoPosterior
from topoi.models.topic_rows import rank_within, topic_tables, trend_rows
from topoi.store.corpus_rows import cut_blobs
from topoi.store.entry import N_LABEL, N_WORDS

Columns = dict[str, Any]


def pachinko_tables(corpus: Corpus, first: PachinkoPosterior) -> dict[str, Columns]:
    """The tables of topics and documents; documents are ranked by their shares summed over paths."""
    tables = topic_tables(corpus, first, 0, True)
    doc, k, n = (tables["document_topic"][name] for name in ("document_id", "topic", "n_tokens"))
    share = np.empty(len(doc))
    for part in blocks(corpus.n_docs):  # all shares at once would be documents × topics
        here = slice(*np.searchsorted(doc, [part.start, part.stop]))
        share[here] = first.doc_topic_range(part.start, part.stop)[doc[here] - part.start, k[here]]
    ranked = rank_within(k, share, doc)
    tables["topic_document"] = {
        "topic": k[ranked.at],
        "rank": ranked.rank,
        "document_id": doc[ranked.at],
        "n_tokens": n[ranked.at],
        "share": share[ranked.at],
    }
    return tables


def graph_tables(corpus: Corpus, dag: Dag, first: PachinkoPosterior) -> dict[str, Columns]:
    """The tables of the graph: nodes, edges, the documents and years of inner nodes, and the paths of words."""
    paths = first.assignments
    by_document = first.passing(0, corpus.n_docs)
    edges = _edges(dag, first)
    width = path_bytes(first.graph)
    return {
        "dag_node": _nodes(corpus, dag, first, edges),
        "dag_edge": edges,
        "document_node": _document_nodes(first, corpus.n_docs, *listed(*by_document)),
        "node_trend": _trend(corpus, dag, *by_document),
        "document_path": {
            "document_id": range(corpus.n_docs),
            "paths": cut_blobs(paths.path.astype(f"<u{width}"), corpus.doc_start),
        },
    }


def _edges(dag: Dag, first: PachinkoPosterior) -> Columns:
    number: dict[str, int | None] = {name: v for v, name in enumerate(dag.nodes)}
    number[WORDS] = None
    slots = slot_children(dag)
    n_slots = np.diff(first.graph.slot_start)
    return {
        "parent": np.repeat(np.arange(len(dag.nodes)), n_slots),
        "position": np.concatenate([np.arange(n) for n in n_slots]),
        "child": [number[child] for below in slots.values() for child in below],
        "alpha": first.edge_alpha,
        "share": first.edge_alpha / np.repeat(np.asarray(first.priors.alpha_sum), n_slots),
        "n_tokens": whole_tokens(first.slot_sizes),
    }


def _nodes(corpus: Corpus, dag: Dag, first: PachinkoPosterior, edges: Columns) -> Columns:
    topic = {name: k for k, name in enumerate(dag.topics)}
    through = np.bincount(edges["parent"], first.slot_sizes, len(dag.nodes)).tolist()
    sizes = first.counts.topic.tolist()
    n_tokens = [through[v] if dag.children(name) else sizes[topic[name]] for v, name in enumerate(dag.nodes)]
    best = telling_words(dag, first.edge_alpha, first.topic_word, first.counts.topic, N_WORDS)
    words: list[list[str]] = [[], *([str(word) for word in corpus.words[row]] for row in best)]
    return {
        "node": range(len(dag.nodes)),
        "name": list(dag.nodes),
        "level": [dag.level(name) for name in dag.nodes],
        "topic": [topic.get(name) for name in dag.nodes],
        "n_children": [len(dag.children(name)) for name in dag.nodes],
        "n_tokens": whole_tokens(n_tokens),
        "share": [n / max(corpus.n_tokens, 1) for n in n_tokens],
        "alpha_sum": np.asarray(first.priors.alpha_sum, np.float64),
        "label": [" ".join(listed[:N_LABEL]) for listed in words],
        "words": [json.dumps(listed, ensure_ascii=False) for listed in words],
    }


def _document_nodes(
    first: PachinkoPosterior, n_docs: int, doc: NDArray[Any], node: NDArray[Any], n: NDArray[Any]
) -> Columns:
    share = np.empty(len(doc))
    for part in blocks(n_docs):
        here = slice(*np.searchsorted(doc, (part.start, part.stop)))
        share[here] = first.doc_node_range(part.start, part.stop)[doc[here] - part.start, node[here]]
    return {"document_id": doc, "node": node, "n_tokens": n, "share": share}


def _trend(corpus: Corpus, dag: Dag, doc: NDArray[Any], node: NDArray[Any], n: NDArray[Any]) -> Columns:
    inner = np.array([v for v, name in enumerate(dag.nodes) if v and dag.children(name)], np.int64)
    place = np.searchsorted(inner, node)
    columns = trend_rows(corpus, "node", len(inner), doc, place, n)
    return columns | {"node": inner[columns["node"]]}
