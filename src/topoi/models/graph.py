"""Graphs of topics: as kernels read them, in files, and the frames and words of their nodes."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.errors import ModelError, StoreError
from topoi.models.dag import WORDS, Dag, as_dag
from topoi.models.ranking import largest, ranked
from topoi.models.resampling import LEVEL
from topoi.models.share_moments import Moments, with_interval
from topoi.models.smoothed_counts import count_pairs
from topoi.models.validation import whole_number

if TYPE_CHECKING:
    from topoi.models.labels.make import TopicNames

_MOST_TOPICS = 2**16 - 1
_PATH_BITS = 32
_MOST_PATHS = 2**_PATH_BITS - 1
# Labels favour words that distinguish a node from the rest (Sievert and Shirley 2014).
_RELEVANCE = 0.6
# A mixture of topics resembles the corpus, so its special words need a larger weight.
_RELEVANCE_OF_MIXTURES = 0.3
# Stands for a probability of zero under a logarithm.
_LEAST = 1e-300
_LARGEST = 16 * 2**20
# Topics that a super-topic may be called by, and decimals of their weights: last bits differ between processors.
_MOST_TOLD, _DECIMALS = 6, 9


class Graph(NamedTuple):
    """Arrays of a graph. Nodes are numbered as in ``Dag.nodes``: the root is 0, every node comes after its parents.

    The *slots* of node u, ``slot_start[u]`` to ``slot_start[u+1]``, are the components of its Dirichlet: its children
    in order and, if it draws words as well, "draw a word here" last (``emit_slot``, else -1). The ways into node v are
    numbered from ``in_start[v]``: each has a parent and the parent's slot. The paths from the root to v are numbered
    from 0; ``path_start`` is the number of those that enter by earlier ways. ``below[below_start[v]:below_start[v+1]]``
    are, for a child v of the root, v and all nodes below it, in order.
    """

    slot_start: NDArray[np.int64]
    in_start: NDArray[np.int64]
    in_parent: NDArray[np.int64]
    in_slot: NDArray[np.int64]
    path_start: NDArray[np.int64]
    n_paths: NDArray[np.int64]
    emit_slot: NDArray[np.int64]
    topic_node: NDArray[np.int64]
    below_start: NDArray[np.int64]
    below: NDArray[np.int64]


def make_graph(dag: Dag) -> Graph:
    """The arrays of a graph.

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import make_graph
    >>> make_graph(Dag.from_levels(2, 3)).n_paths.tolist()
    [1, 1, 1, 2, 2, 2]
    """
    number = {name: v for v, name in enumerate(dag.nodes)}
    topics = [number[name] for name in dag.topics]
    slots = slot_children(dag)
    slot_start = np.cumsum([0] + [len(slots[name]) for name in dag.nodes])
    slot_of = {
        (name, child): int(slot_start[number[name]]) + i for name in dag.nodes for i, child in enumerate(slots[name])
    }
    parents = [dag.parents(name) for name in dag.nodes]
    n_paths: list[int] = []
    path_start: list[int] = []
    for above in parents:
        upto = 0
        for parent in above:
            path_start.append(upto)
            upto += n_paths[number[parent]]
        n_paths.append(upto or 1)
    _check_sizes(dag, topics, n_paths)
    ways = [(parent, name) for name, above in zip(dag.nodes, parents, strict=True) for parent in above]
    return Graph(
        slot_start,
        np.cumsum([0] + [len(above) for above in parents]),
        np.array([number[parent] for parent, _ in ways], np.int64),
        np.array([slot_of[way] for way in ways], np.int64),
        np.array(path_start, np.int64),
        np.array(n_paths, np.int64),
        np.array([slot_of.get((name, WORDS), -1) for name in dag.nodes], np.int64),
        np.array(topics, np.int64),
        *_nodes_below([[number[parent] for parent in above] for above in parents]),
    )


def _nodes_below(parents: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each child of the root with all nodes below it; nothing for the other nodes."""
    inner = {u for above in parents for u in above}
    # A child without children has only itself below, so graphs with tens of thousands of those take little memory.
    first = [v for v, above in enumerate(parents) if 0 in above and v in inner]
    inside = np.zeros((len(parents), len(first)), bool)
    inside[first, range(len(first))] = True
    for v, above in enumerate(parents):
        inside[v] |= inside[above].any(axis=0)
    below = {v: np.flatnonzero(inside[:, i]) for i, v in enumerate(first)}
    below |= {v: np.array([v]) for v, above in enumerate(parents) if 0 in above and v not in inner}
    lists = [below.get(v, np.zeros(0, np.int64)) for v in range(len(parents))]
    return np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int64)


def climb(graph: Graph, topic: NDArray[Any], path: NDArray[Any]) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Slots that tokens passed, from the bottom up: in each step the tokens, the nodes, and the nodes' slots.

    A token takes one slot of every node with slots that its path leads through.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import climb, make_graph
    >>> graph = make_graph(Dag.from_levels(2, 3))  # a token of the last topic that came by the second super-topic
    >>> [[int(each[0]) for each in step[1:]] for step in climb(graph, np.array([2]), np.array([1])) if len(step[0])]
    [[2, 7], [0, 1]]
    """
    node, rest = graph.topic_node[topic], path.astype(np.int64)
    emit = graph.emit_slot[node]
    at = np.flatnonzero(emit >= 0)
    yield at, node[at], emit[at]
    # The ways into all nodes in order, each with the number of its first path.
    way = (np.repeat(np.arange(len(graph.n_paths)), np.diff(graph.in_start)) << _PATH_BITS) + graph.path_start
    at = np.flatnonzero(node > 0)
    while len(at):
        j = np.searchsorted(way, (node[at] << _PATH_BITS) + rest[at], side="right") - 1
        rest[at] -= graph.path_start[j]
        node[at] = graph.in_parent[j]
        yield at, node[at], graph.in_slot[j]
        at = at[node[at] > 0]


def slot_children(dag: Dag) -> dict[str, tuple[str, ...]]:
    """Options of each node's Dirichlet: its children and, if it draws words as well, ``WORDS`` last."""
    inner = {name for name in dag.topics if dag.children(name)}
    return {name: (*dag.children(name), *((WORDS,) if name in inner else ())) for name in dag.nodes}


def path_bytes(graph: Graph) -> int:
    """Number of bytes of a path's number in a store: 1, 2 or 4."""
    most = int(graph.n_paths.max())
    return next(n for n in (1, 2, 4) if most <= 2 ** (8 * n))


def slot_nodes(graph: Graph) -> NDArray[np.int64]:
    """The child that each slot leads to; -1 for "draw a word here".

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import make_graph, slot_nodes
    >>> slot_nodes(make_graph(Dag.from_levels(2, 2))).tolist()
    [1, 2, 3, 4, 3, 4]
    """
    child = np.full(graph.slot_start[-1], -1, np.int64)
    child[graph.in_slot] = np.repeat(np.arange(len(graph.n_paths)), np.diff(graph.in_start))
    return child


def four_level_widths(dag: Dag) -> tuple[int, int] | None:
    """(n_super, n_sub) if the graph is the four-level model, every super-topic joined to every sub-topic; else None.

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import four_level_widths
    >>> four_level_widths(Dag.from_levels(2, 3)), four_level_widths(Dag.from_levels(3))
    ((2, 3), None)
    """
    if len(dag.shape) != 3:
        return None
    _, n_super, n_sub = dag.shape
    supers, subs = dag.nodes[1 : 1 + n_super], dag.nodes[1 + n_super :]
    whole = dag.children(dag.root) == supers and all(dag.children(name) == subs for name in supers)
    return (n_super, n_sub) if whole and dag.topics == subs else None


def _check_sizes(dag: Dag, topics: list[int], n_paths: list[int]) -> None:
    if len(topics) > _MOST_TOPICS:
        raise ModelError(f"the graph has {len(topics):,} topics; at most {_MOST_TOPICS:,} are possible")
    most = max(n_paths)
    if most > _MOST_PATHS:
        name = dag.nodes[n_paths.index(most)]
        raise ModelError(f"{most:,} paths lead to the node {name!r}; at most {_MOST_PATHS:,} are possible")


class NodeDocuments(NamedTuple):
    """Documents, their words with paths through a node, and the posterior mean share of such words."""

    document: NDArray[np.int64]
    n_words: NDArray[np.int64]
    share: NDArray[np.float64]


class GraphFrames:
    """Super-topics and pruning; a class with this mixin provides the graph, its edges, words and sizes."""

    dag_: Dag

    def edges(self) -> pd.DataFrame:
        """Every edge with its Dirichlet parameter: parent, child, topic, alpha, share, n_words."""
        raise NotImplementedError  # abstract: from a sample, or from rows

    def node_labels(self, n_words: int | None = None) -> dict[str, str]:
        """A short label for every node but the root."""
        raise NotImplementedError  # abstract: from a sample, or from rows

    def _top_words(self, n: int) -> list[str]:
        """Most probable words of each topic."""
        raise NotImplementedError  # abstract: from a sample, or from rows

    def _node_sizes(self) -> tuple[NDArray[np.int64], Moments]:
        """Words through each node, and their shares of all words."""
        raise NotImplementedError  # abstract: from a sample, or from rows

    def node_sizes(self, level: float | None = LEVEL) -> pd.DataFrame:
        """Number of words through each node below the root: node, n_words, share (of all words), lower, upper.

        Parameters
        ----------
        level : float, optional
            The interval from ``lower`` to ``upper`` holds the node's share in documents like these with this
            probability (``topoi.models.share_moments``). None leaves intervals out.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.PachinkoAllocation(1, 2, n_iter=5, random_state=0).fit([[1, 2], [2, 3]])
        >>> model.node_sizes()[["node", "n_words"]].values.tolist()[0]
        ['super 0', 8]
        """
        n_words, moments = self._node_sizes()
        frame = pd.DataFrame({"node": self.dag_.nodes, "n_words": n_words, "share": moments.mean})
        frame = with_interval(frame, None if level is None else moments.interval(level))
        return frame.iloc[1:].reset_index(drop=True)

    @property
    def super_nodes(self) -> NDArray[np.int64]:
        """Numbers of the super-topics: nodes with children, without the root."""
        return np.array([v for v, name in enumerate(self.dag_.nodes) if v and self.dag_.children(name)], np.int64)

    def super_topics(self, n: int = 10, n_words: int = 3) -> pd.DataFrame:
        """Strongest children of each super-topic: super_topic, rank, child, topic, alpha, share, n_words, label, words.

        A super-topic is an inner node below the root. ``label`` is the super-topic's name, as in ``node_labels``;
        ``words`` are the child's most probable.

        Parameters
        ----------
        n : int
            Number of children per super-topic, ranked by alpha.
        n_words : int
            Number of words of each child.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> model = topoi.PachinkoAllocation(2, 2, n_iter=30, random_state=0).fit(corpus)
        >>> model.super_topics(1)["super_topic"].tolist()
        ['super 0', 'super 1']
        """
        whole_number("n", n)
        edges = self.edges()
        labels, telling = self.node_labels(), self.node_labels(n_words)
        below = edges[edges["parent"] != self.dag_.root]
        frame = below.sort_values("alpha", ascending=False, kind="stable").groupby("parent", sort=False).head(n)
        order = {name: i for i, name in enumerate(self.dag_.nodes)}
        frame = frame.sort_values("parent", key=lambda column: column.map(order), kind="stable", ignore_index=True)
        frame = frame.rename(columns={"parent": "super_topic"})
        frame["label"] = frame["super_topic"].map(labels)
        tops = self._top_words(n_words)
        pairs = zip(frame["topic"], frame["child"], strict=True)
        frame["words"] = [tops[k] if pd.notna(k) else telling[child] for k, child in pairs]
        return ranked(frame, "super_topic")

    def pruned_dag(self, min_share: float = 0.01) -> Dag:
        """The graph reduced to its important edges, as a structure to fit again.

        An edge stays if its alpha is at least ``min_share`` of its parent's sum. The root's edges stay, every node
        keeps its strongest child, and every node that would lose all parents keeps the strongest. Nodes keep their
        order, and so topics their ids, as long as their levels stay.

        Parameters
        ----------
        min_share : float
            From 0 (nothing is pruned) to 1.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> model = topoi.PachinkoAllocation(2, 2, n_iter=30, random_state=0).fit(corpus)
        >>> sparse = topoi.PachinkoAllocation(dag=model.pruned_dag(0.2), n_iter=30, random_state=0).fit(corpus)
        >>> sparse.dag_.topics
        ('sub 0', 'sub 1')
        """
        if not 0.0 <= min_share <= 1.0:
            raise ModelError(f"min_share is {min_share!r}; it must be between 0 and 1")
        edges = self.edges()
        strongest_child = edges.groupby("parent", sort=False)["share"].transform("max") == edges["share"]
        kept = (edges["share"] >= min_share) | strongest_child | (edges["parent"] == self.dag_.root)
        pairs = set(zip(edges["parent"][kept], edges["child"][kept], strict=True))
        reached = {child for _, child in pairs}
        for child, ways in edges.groupby("child", sort=False):
            if child not in reached and child != WORDS:
                pairs.add((ways["parent"].iloc[int(ways["share"].to_numpy().argmax())], child))
        place = {name: v for v, name in enumerate((*self.dag_.nodes, WORDS))}
        return Dag.from_edges(sorted(pairs, key=lambda edge: (place[edge[1]], place[edge[0]])))


def node_names(dag: Dag, alpha: NDArray[np.float64], names: TopicNames) -> list[str]:
    """Names of all nodes but the root, from those of the topics.

    A node that draws words and has no children is called as its topic. A super-topic is called by the two topics that
    it has most more of than the root has: those with the largest part of the divergence of its mixture from the root's.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import node_names
    >>> from topoi.models.labels.make import TopicNames
    >>> common = np.array([False, False, False, True])
    >>> topics = TopicNames(["sun", "star", "cell", "background: of, the"], common, ~common)
    >>> node_names(Dag.from_levels(2, 4), np.array([1, 1, 8, 4, 1, 9, 1, 1, 8, 9.0]), topics)[:2]
    ['sun + star', 'cell (super 1)']
    """
    mixture = _node_word(dag, alpha, np.eye(len(dag.topics)))
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.round(np.nan_to_num(mixture * np.log(mixture / mixture[0])), _DECIMALS)
    weight[:, ~names.subject] -= 1.0 + np.abs(weight).max(initial=0.0)
    topic = {name: k for k, name in enumerate(dag.topics)}
    found, taken = [], set(names.labels)
    for v, name in enumerate(dag.nodes[1:], start=1):
        if not dag.children(name):
            found.append(names.labels[topic[name]])
            continue
        order = np.argsort(-weight[v], kind="stable")
        told = [int(k) for k in order if weight[v, k] > 0][:_MOST_TOLD] or [int(order[0])]
        pairs = [f"{names.labels[a]} + {names.labels[b]}" for a, b in combinations(told, 2)]
        called = next((pair for pair in pairs if pair not in taken), f"{names.labels[told[0]]} ({name})")
        taken.add(called)
        found.append(called)
    return found


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
        ranking = np.log(_node_word(dag, alpha, topic_word)) - (1.0 - relevance[:, None]) * np.log(
            np.maximum(overall, _LEAST)
        )
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


def read_graph(path: Path) -> Dag:
    """The graph in a file: a nested object of nodes and their children, or a list of pairs [parent, child].

    ``"<words>"`` among children makes a node draw words as well. Errors name the file.
    """
    if path.is_dir():
        raise ModelError(f"{path} is a folder; name a JSON file with a graph")
    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))
    if not path.is_file():
        raise ModelError(f"{path} is not a file")  # reading a pipe would block for ever
    if path.stat().st_size > _LARGEST:
        raise ModelError(f"{path} is larger than {_LARGEST >> 20} MB; a graph of that size cannot be fitted")
    try:
        graph = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_no_key_twice)
    except json.JSONDecodeError as error:
        raise ModelError(f"{path}, line {error.lineno}: this is not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is not a text in UTF-8 ({error.reason} at byte {error.start:,})") from error
    except RecursionError as error:
        raise ModelError(f"{path} is nested too deeply; list edges as pairs [parent, child] instead") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    if not isinstance(graph, dict | list):
        raise ModelError(f"{path} holds {_named(graph)}; it must be an object of nodes, or a list of [parent, child]")
    try:
        return as_dag(graph)
    except RecursionError as error:
        raise ModelError(f"{path} is nested too deeply; list edges as pairs [parent, child] instead") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object with distinct keys; of duplicates, JSON would silently keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ModelError(f"the node {twice!r} stands twice in one place; put its children together")
    return found


def _named(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def write_graph(path: Path, dag: Dag) -> None:
    """Write a graph as a list of edges, one per line, atomically."""
    text = "[\n" + ",\n".join(json.dumps(edge, ensure_ascii=False) for edge in dag.to_plain()) + "\n]\n"
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
