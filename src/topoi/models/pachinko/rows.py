"""Tables of the graph, which a store keeps beside those of all models with topics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.blocks import Blobs, Blocks, Columns, Table
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import BLOCK, row_blocks
from topoi.models.dag import WORDS, Dag
from topoi.models.graph import node_names, path_bytes, slot_children, telling_words
from topoi.models.pachinko.posterior import PachinkoPosterior, shares_in_blocks
from topoi.models.periods import trend_rows
from topoi.models.ranking import N_WORDS
from topoi.models.smoothed_counts import Cells, listed, whole_tokens


def graph_tables(corpus: Corpus, dag: Dag, first: PachinkoPosterior) -> dict[str, Table]:
    """Tables of the graph: nodes, edges, the documents and years of inner nodes, and the paths of words."""
    paths, trends = first.assignments, _trends(corpus, first)
    width = path_bytes(first.graph)
    return {
        "dag_node": _nodes(corpus, dag, first),
        "dag_edge": _edges(dag, first),
        "document_node": Blocks(lambda: (_document_nodes(first, *listed(*cells)) for cells in _passing(corpus, first))),
        "node_trend": trends["year"],
        "node_decade": trends["decade"],
        "document_path": {
            "document_id": range(corpus.n_docs),
            "paths": Blobs(paths.path, corpus.doc_start, f"<u{width}"),
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
        "deviation": first.graph_deviations.slot,
    }


def _nodes(corpus: Corpus, dag: Dag, first: PachinkoPosterior) -> Columns:
    topic = {name: k for k, name in enumerate(dag.topics)}
    best = telling_words(dag, first.edge_alpha, first.topic_word, first.counts.topic, N_WORDS)
    words: list[list[str]] = [[], *([str(word) for word in corpus.words[row]] for row in best)]
    return {
        "node": range(len(dag.nodes)),
        "name": list(dag.nodes),
        "level": [dag.level(name) for name in dag.nodes],
        "topic": [topic.get(name) for name in dag.nodes],
        "n_children": [len(dag.children(name)) for name in dag.nodes],
        "n_tokens": whole_tokens(first.node_totals),
        "share": first.node_totals / max(corpus.n_tokens, 1),
        "deviation": first.node_deviations(),
        "alpha_sum": np.asarray(first.priors.alpha_sum, np.float64),
        "label": ["", *node_names(dag, first.edge_alpha, first.named(corpus))],
        "words": [json.dumps(listed, ensure_ascii=False) for listed in words],
    }


def _passing(corpus: Corpus, first: PachinkoPosterior) -> Iterator[Cells]:
    """Numbers of tokens of each document through each node, in blocks of documents."""
    for part in row_blocks(corpus.doc_start, BLOCK // first.n_samples):
        yield first.passing(part.start, part.stop)


def _document_nodes(first: PachinkoPosterior, doc: NDArray[Any], node: NDArray[Any], n: NDArray[Any]) -> Columns:
    return {"document_id": doc, "node": node, "n_tokens": n, "share": shares_in_blocks(first.doc_node_range, doc, node)}


def _trends(corpus: Corpus, first: PachinkoPosterior) -> dict[str, Columns]:
    """Trends of inner nodes by year and by decade."""
    inner = first.inner_nodes
    placed = ((doc, np.searchsorted(inner, node), n) for doc, node, n in _passing(corpus, first))
    found = trend_rows(corpus, "node", placed, first.node_draws())
    return {period: columns | {"node": inner[columns["node"]]} for period, columns in found.items()}
