"""Nodes of a graph: the words that distinguish each from the rest, and the number of tokens through it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.models.dag import WORDS, Dag
from topoi.models.graph import Graph, climb, slot_children
from topoi.models.ranking import largest
from topoi.models.smoothed_counts import count_pairs

# Labels favour words that distinguish a node from the rest (Sievert and Shirley 2014).
_RELEVANCE = 0.6
# A mixture of topics resembles the corpus, so its special words need a larger weight.
_RELEVANCE_OF_MIXTURES = 0.3


def telling_words(
    dag: Dag, alpha: NDArray[np.float64], topic_word: NDArray[np.float64], sizes: NDArray[Any], n: int
) -> NDArray[np.int64]:
    """The ``n`` most relevant words of every node but the root, the best first: nodes × words.

    Relevance combines P(word | node) under the means of all Dirichlets (``alpha`` is per slot) with how much more
    probable the word is there than in the whole corpus, whose topics have ``sizes`` tokens.
    """
    overall = sizes @ topic_word
    relevance = np.array([_RELEVANCE_OF_MIXTURES if dag.children(name) else _RELEVANCE for name in dag.nodes])
    with np.errstate(divide="ignore"):
        ranking = np.log(_node_word(dag, alpha, topic_word)) - (1.0 - relevance[:, None]) * np.log(overall)
    return largest(ranking[1:], n)


def _node_word(dag: Dag, alpha: NDArray[np.float64], topic_word: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(word | node): nodes × words, children before parents."""
    number = {name: v for v, name in enumerate(dag.nodes)}
    topic = {name: k for k, name in enumerate(dag.topics)}
    slots = slot_children(dag)
    start = np.cumsum([0] + [len(slots[name]) for name in dag.nodes])
    result = np.zeros((len(number), topic_word.shape[1]))
    for name in reversed(dag.nodes):
        v = number[name]
        if not slots[name]:
            result[v] = topic_word[topic[name]]
            continue
        share = alpha[start[v] : start[v + 1]]
        rows = [topic_word[topic[name]] if c == WORDS else result[number[c]] for c in slots[name]]
        result[v] = (share / share.sum()) @ np.array(rows)
    return result


def slot_sizes(graph: Graph, topic: NDArray[Any], path: NDArray[Any]) -> NDArray[np.int64]:
    """Number of tokens that took each slot."""
    sizes = np.zeros(int(graph.slot_start[-1]), np.int64)
    for _, _, slot in climb(graph, topic, path):
        sizes += np.bincount(slot, minlength=len(sizes))
    return sizes


def passing(
    graph: Graph, doc: NDArray[Any], topic: NDArray[Any], path: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Numbers of tokens of documents through nodes with slots, without the root: documents, nodes, numbers.

    ``doc`` is each token's document; zero counts are left out.
    """
    docs, nodes = [], []
    for at, node, _ in climb(graph, topic, path):
        below = node > 0
        docs.append(doc[at[below]])
        nodes.append(node[below])
    return count_pairs(np.concatenate(docs), np.concatenate(nodes), len(graph.n_paths))  # type: ignore[return-value]
