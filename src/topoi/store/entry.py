"""What a model hands to the store: a bundle to be rebuilt from, and rows to be read by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from topoi.corpus.pieces import ArrayOrPieces
from topoi.store.blocks import Table

# How many authors and documents of each topic are ranked in topic_author and topic_document.
N_RANKED = 200
# How many words of each topic are listed, and how many neighbours.
N_WORDS = 20
N_NEIGHBOURS = 10
# How many words make up the label of a node.
N_LABEL = 3
# How those words are ranked: 1 is by probability alone, 0 by how much more probable than in the whole collection.
FACE_RELEVANCE = 0.6
# The tables that only models over a graph have.
GRAPH_TABLES = ("dag_node", "dag_edge", "document_node", "node_trend", "document_path")
# The tables that belong to a model; a family fills those that mean something to it.
MODEL_TABLES = (
    "topic",
    "topic_word",
    "author_topic",
    "topic_author",
    "document_topic",
    "topic_document",
    "topic_neighbour",
    "mixture",
    "topic_trend",
    "author_word",
    "author_document",
    "document_assignment",
    *GRAPH_TABLES,
    "trace",
)


@dataclass(frozen=True)
class ModelEntry:
    """A fitted model as the store sees it: it knows rows and bundles, not families.

    Attributes
    ----------
    name : str
        The model's name within the file.
    model : str
        The class, by which ``topoi.load`` finds it again.
    n_topics : int or None
        None if the model has no topics.
    n_iter, n_chains, seed : int
        How it was fitted.
    chain : str
        A digest of what makes a chain the same chain; labels survive a save while it is the same.
    meta : mapping
        Settings as JSON can hold them: with ``arrays``, everything that the model is rebuilt from.
    arrays : mapping of arrays
        Numbers only, whole or in pieces.
    tables : mapping of tables
        For some of ``MODEL_TABLES`` the columns after ``model_id``, all of one length; or ``Blocks`` of such columns.
    parameters : mapping
        Fitted numbers that belong to no table.
    """

    name: str
    model: str
    n_topics: int | None
    n_iter: int
    n_chains: int
    seed: int | None
    chain: str
    meta: Mapping[str, Any]
    arrays: Mapping[str, ArrayOrPieces]
    tables: Mapping[str, Table]
    parameters: Mapping[str, Any] = field(default_factory=dict)
