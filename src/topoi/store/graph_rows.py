"""Graph of a model in a store, read from its rows and checked, since kernels do not check its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from topoi.errors import ModelError, StoreError
from topoi.models.dag import WORDS, Dag, as_dag
from topoi.models.graph import slot_children
from topoi.models.validation import whole_number


def stored_dag(path: Path, settings: dict[str, Any], nodes: list[Any], edges: list[Any], n_topics: int) -> Dag:
    """The graph given by the settings; an error unless the rows of the queries "nodes" and "edges" agree with it."""
    if not nodes:
        raise StoreError(f"{path}: the graph is missing; load the model and save it again")
    try:
        dag = _dag_of_settings(settings, len(nodes), len(edges))
    except (ModelError, TypeError, KeyError, ValueError, RecursionError) as error:
        raise StoreError(f"{path}: the graph is damaged ({error})") from error
    topic = {name: k for k, name in enumerate(dag.topics)}
    number: dict[str, int | None] = {name: v for v, name in enumerate(dag.nodes)}
    number[WORDS] = None
    expected = [(v, name, dag.level(name), topic.get(name)) for v, name in enumerate(dag.nodes)]
    ways = [
        (number[name], i, number[child]) for name, below in slot_children(dag).items() for i, child in enumerate(below)
    ]
    if [tuple(row[:4]) for row in nodes] != expected or [tuple(row[:3]) for row in edges] != ways:
        raise StoreError(f"{path}: the tables of the graph are not those of the model's graph; they are damaged")
    if len(dag.topics) != n_topics:
        raise StoreError(f"{path}: the graph has {len(dag.topics)} topics, the model {n_topics}; it is damaged")
    return dag


def _dag_of_settings(settings: dict[str, Any], n_nodes: int, n_edges: int) -> Dag:
    """The graph given by the settings; never one larger than the tables."""
    if settings.get("dag") is not None:
        return as_dag(settings["dag"])
    n_super, n_sub = (whole_number(name, settings[name]) for name in ("n_super", "n_sub"))
    if n_nodes != 1 + n_super + n_sub or n_edges != n_super * (1 + n_sub):
        raise ModelError(f"{n_super} × {n_sub} nodes were asked for, {n_nodes} nodes and {n_edges} edges are there")
    return Dag.from_levels(n_super, n_sub)
