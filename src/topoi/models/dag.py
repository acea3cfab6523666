"""Graph of topics: nodes and their children, down to the nodes that draw words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from topoi.errors import ModelError
from topoi.models.validation import whole_number

#: The child that stands for the vocabulary: an inner node with the edge ``(node, WORDS)`` emits words too.
WORDS = "<words>"

_SHOWN = 5


class Dag:
    """A directed acyclic graph with one root. Leaves draw words; inner nodes may as well.

    Make one with ``from_edges``, ``from_levels``, ``from_dict`` or ``from_networkx``. Edges may skip levels and the
    graph may be sparse. It is immutable; two graphs with the same edges in the same order are equal.

    Parameters
    ----------
    edges : iterable of (parent, child)
        As in ``from_edges``.

    Attributes
    ----------
    nodes : tuple of str
        All nodes, the root first and every node after its parents: by the longest path from the root, then as listed.
    topics : tuple of str
        The nodes that draw words, in the order of ``nodes``: a model's topic ids.
    edges : tuple of (str, str)
        As they were given.
    root : str
        The node without parents.

    Examples
    --------
    >>> import topoi
    >>> dag = topoi.Dag.from_edges([("root", "food"), ("root", "health"), ("food", "cooking"), ("food", "diet"),
    ...                             ("health", "diet"), ("health", "drugs"), ("health", topoi.WORDS)])
    >>> dag.topics
    ('health', 'cooking', 'diet', 'drugs')
    >>> dag
    Dag(root → 2 → 3 → words; 6 edges, 4 topics, also words from 'health')
    """

    __slots__ = ("_children", "_level", "_parents", "edges", "nodes", "root", "topics")

    def __init__(self, edges: Iterable[Sequence[str]]):
        self.edges = tuple(_checked_edges(edges))
        listed = list(dict.fromkeys(name for edge in self.edges for name in edge if name != WORDS))
        children: dict[str, list[str]] = {name: [] for name in listed}
        parents: dict[str, list[str]] = {name: [] for name in listed}
        emits = set()
        for parent, child in self.edges:
            if child == WORDS:
                emits.add(parent)
            else:
                children[parent].append(child)
                parents[child].append(parent)
        self.root = _only_root(listed, parents, children)
        self._level = _levels(listed, parents, children)
        place = {name: i for i, name in enumerate(listed)}
        self.nodes = tuple(sorted(listed, key=lambda name: (self._level[name], place[name])))
        order = {name: i for i, name in enumerate(self.nodes)}
        self._children = {name: tuple(sorted(children[name], key=order.__getitem__)) for name in self.nodes}
        self._parents = {name: tuple(sorted(parents[name], key=order.__getitem__)) for name in self.nodes}
        self.topics = tuple(name for name in self.nodes if name in emits or not self._children[name])

    @classmethod
    def from_edges(cls, edges: Iterable[Sequence[str]]) -> Dag:
        """A graph from pairs (parent, child).

        Nodes without children draw words; the child ``topoi.WORDS`` makes an inner node draw words as well.

        Parameters
        ----------
        edges : iterable of (parent, child)
            Names are strings. A cycle, an edge that is listed twice and a second root are a ``ModelError`` that names
            the nodes.

        Examples
        --------
        >>> import topoi
        >>> topoi.Dag.from_edges([("root", "a"), ("root", "b"), ("a", "b")]).nodes
        ('root', 'a', 'b')
        """
        return cls(edges)

    @classmethod
    def from_levels(cls, *widths: int | Sequence[int]) -> Dag:
        """Levels of the given widths below a root, every node joined to all of the next level.

        Parameters
        ----------
        *widths : int
            One number is LDA, two are the four-level model: super-topics and sub-topics.

        Examples
        --------
        >>> import topoi
        >>> topoi.Dag.from_levels(50, 100)
        Dag(root → 50 → 100 → words; 5,050 edges, 100 topics)
        >>> topoi.Dag.from_levels(2).topics
        ('topic 0', 'topic 1')
        """
        flat = widths[0] if len(widths) == 1 and isinstance(widths[0], Sequence) else widths
        if not flat:
            raise ModelError("from_levels needs the width of at least one level, such as from_levels(50, 100)")
        names = [["root"]]
        for level, width in enumerate(flat, 1):
            stem = _level_name(level, len(flat))
            names.append([f"{stem} {i}" for i in range(whole_number(f"the width of level {level}", width))])
        pairs = zip(names[:-1], names[1:], strict=True)
        return cls((parent, child) for upper, lower in pairs for parent in upper for child in lower)

    @classmethod
    def from_dict(cls, graph: Mapping[str, Any]) -> Dag:
        """A graph from a nested dict: each key is a node, its value the node's children.

        Children are a dict (nested further), a list of names, one name, or nothing (None or empty) for a node that only
        draws words. A node may occur in several places; ``topoi.WORDS`` among children makes a node draw words as well.

        Parameters
        ----------
        graph : dict
            One key at the top, the root; or several nodes side by side with the names of their children.

        Examples
        --------
        >>> import topoi
        >>> dag = topoi.Dag.from_dict({"root": {"food": ["cooking", "diet"], "health": {"diet": None, "drugs": None}}})
        >>> dag.parents("diet")
        ('food', 'health')
        """
        if not isinstance(graph, Mapping):
            raise ModelError(f"from_dict needs a dict of nodes and their children, not {type(graph).__name__}")
        return cls(dict.fromkeys(_nested_edges(graph)))

    @classmethod
    def from_networkx(cls, graph: Any) -> Dag:
        """A graph from a ``networkx.DiGraph``; nodes are named by ``str``.

        Parameters
        ----------
        graph : networkx.DiGraph
            A node named ``topoi.WORDS`` stands for the vocabulary.

        Examples
        --------
        >>> import topoi
        >>> class Graph:  # whatever lists its edges will do
        ...     edges = [(0, 1), (0, 2), (1, 2)]
        >>> topoi.Dag.from_networkx(Graph()).nodes
        ('0', '1', '2')
        """
        if hasattr(graph, "is_directed") and not graph.is_directed():
            raise ModelError("the graph has no directions; pass a networkx.DiGraph whose edges go from parent to child")
        place = {node: i for i, node in enumerate(getattr(graph, "nodes", ()))}
        edges = [(parent, child) for parent, child, *_ in graph.edges]
        if place:  # order children as the graph lists its nodes, so that our own graph keeps its topic ids
            edges.sort(key=lambda edge: (place[edge[1]], place[edge[0]]))
        return cls((str(parent), str(child)) for parent, child in edges)

    def to_networkx(self) -> Any:
        """The graph as a ``networkx.DiGraph``; nodes have ``level`` and ``topic`` (the topic id, or None).

        ``topoi.WORDS`` is a node only if an inner node draws words.

        Examples
        --------
        >>> import topoi
        >>> topoi.Dag.from_levels(2, 3).to_networkx().number_of_edges()  # doctest: +SKIP
        8
        """
        try:
            import networkx
        except ImportError as error:
            raise ImportError("to_networkx needs networkx: pip install networkx") from error
        graph = networkx.DiGraph()
        topic = {name: k for k, name in enumerate(self.topics)}
        for name in self.nodes:
            graph.add_node(name, level=self._level[name], topic=topic.get(name))
        graph.add_edges_from(self.edges)
        return graph

    def children(self, node: str) -> tuple[str, ...]:
        """Children of a node in the order of ``nodes``, without ``topoi.WORDS``.

        Examples
        --------
        >>> import topoi
        >>> topoi.Dag.from_levels(1, 2).children("super 0")
        ('sub 0', 'sub 1')
        """
        return self._children[self._known(node)]

    def parents(self, node: str) -> tuple[str, ...]:
        """Parents of a node in the order of ``nodes``.

        Examples
        --------
        >>> import topoi
        >>> topoi.Dag.from_levels(2, 1).parents("sub 0")
        ('super 0', 'super 1')
        """
        return self._parents[self._known(node)]

    def level(self, node: str) -> int:
        """Number of edges of the longest path from the root to the node.

        Examples
        --------
        >>> import topoi
        >>> topoi.Dag.from_edges([("root", "a"), ("root", "b"), ("a", "b")]).level("b")
        2
        """
        return self._level[self._known(node)]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of nodes of each level, from the root's on."""
        widths = [0] * (self._level[self.nodes[-1]] + 1)
        for level in self._level.values():
            widths[level] += 1
        return tuple(widths)

    def picture(self, most: int = 12) -> str:
        """The graph as an SVG picture for notebooks, with the root at the left and a column for each level.

        Nodes that draw words are filled. A level of many nodes is drawn as one stack, with their number.

        Parameters
        ----------
        most : int
            Largest level whose nodes are drawn one by one.

        Examples
        --------
        >>> import topoi
        >>> "5,000 edges" in topoi.Dag.from_levels(50, 100).picture()
        True
        """
        from topoi.drawing.dag_picture import draw

        return draw(self, whole_number("most", most))

    def _repr_html_(self) -> str:
        return self.picture()

    def to_plain(self) -> list[list[str]]:
        """The edges as JSON can hold them; ``from_edges`` rebuilds the same graph.

        Examples
        --------
        >>> import topoi
        >>> topoi.Dag.from_levels(2).to_plain()
        [['root', 'topic 0'], ['root', 'topic 1']]
        """
        return [list(edge) for edge in self.edges]

    def _known(self, node: str) -> str:
        if node not in self._children:
            raise ModelError(f"the graph has no node {node!r}; it has {_listed(self.nodes)}")
        return node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dag) and self.edges == other.edges

    def __hash__(self) -> int:
        return hash(self.edges)

    def __copy__(self) -> Dag:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Dag:
        return self

    def __reduce__(self) -> Any:
        return Dag, (self.edges,)

    def __repr__(self) -> str:
        levels = " → ".join([self.root, *(f"{width:,}" for width in self.shape[1:]), "words"])
        n_edges = sum(child != WORDS for _, child in self.edges)
        text = f"{levels}; {_number(n_edges, 'edge')}, {_number(len(self.topics), 'topic')}"
        inner = [name for name in self.topics if self._children[name]]
        return f"Dag({text}, also words from {_listed(inner)})" if inner else f"Dag({text})"


def as_dag(value: object) -> Dag:
    """The value as a ``Dag``: one already, a list of edges, a nested dict, or a networkx graph."""
    if isinstance(value, Dag):
        return value
    if isinstance(value, Mapping):
        return Dag.from_dict(value)
    if hasattr(value, "edges"):
        return Dag.from_networkx(value)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ModelError(f"dag is {value!r}; pass a topoi.Dag, a list of edges (parent, child) or a nested dict")
    return Dag.from_edges(value)


def _checked_edges(edges: Iterable[Any]) -> Iterator[tuple[str, str]]:
    seen = set()
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise ModelError(f"an edge is {edge!r}; it must be a pair (parent, child)")
        parent, child = edge
        for name in edge:
            if not isinstance(name, str) or not name:
                raise ModelError(f"the edge {tuple(edge)!r} has the node {name!r}; nodes are named by strings")
        if parent == WORDS:
            raise ModelError(f"the edge {tuple(edge)!r} begins at topoi.WORDS; words have no children")
        if parent == child:
            raise ModelError(f"the graph has a cycle: {parent!r} → {child!r}")
        if (parent, child) in seen:
            raise ModelError(f"the edge {(parent, child)!r} is listed twice")
        seen.add((parent, child))
        yield parent, child


def _only_root(listed: list[str], parents: Mapping[str, list[str]], children: Mapping[str, list[str]]) -> str:
    if not listed:
        raise ModelError("the graph has no edges; it needs a root and at least one topic")
    roots = [name for name in listed if not parents[name]]
    if not roots:
        raise ModelError(f"the graph has a cycle: {_cycle(listed, children)}")
    if len(roots) > 1:
        raise ModelError(
            f"the graph has {len(roots)} nodes without parents, {_listed(roots)}: "
            "all but the root must be reached from it"
        )
    return roots[0]


def _levels(listed: list[str], parents: Mapping[str, list[str]], children: Mapping[str, list[str]]) -> dict[str, int]:
    """Length of the longest path from the root to each node; a cycle is an error."""
    missing = {name: len(parents[name]) for name in listed}
    level = {name: 0 for name in listed if not missing[name]}
    ready = list(level)
    for name in ready:
        for child in children[name]:
            level[child] = max(level.get(child, 0), level[name] + 1)
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    stuck = [name for name in listed if missing[name]]
    if stuck:
        raise ModelError(f"the graph has a cycle: {_cycle(stuck, children)}")
    return level


def _cycle(suspects: list[str], children: Mapping[str, list[str]]) -> str:
    """One cycle among nodes each of which has a parent among them."""
    among = set(suspects)
    above = {child: name for name in suspects for child in children[name] if child in among}
    way = [suspects[0]]
    while way[-1] not in way[:-1]:
        way.append(above[way[-1]])
    found = way[way.index(way[-1]) :][::-1]
    shown = found if len(found) <= 2 * _SHOWN else [*found[:_SHOWN], "…", *found[-_SHOWN:]]
    return " → ".join(name if name == "…" else repr(name) for name in shown)


def _nested_edges(graph: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for parent, below in graph.items():
        inner = [below] if isinstance(below, str) else below or ()
        if not isinstance(inner, Iterable):
            raise ModelError(f"the children of {parent!r} are {below!r}; pass a dict, a list of names, or None")
        for child in inner:
            if not isinstance(child, str):
                raise ModelError(
                    f"among the children of {parent!r} is {child!r}; children are names, in a list or a dict"
                )
            yield parent, child
        if isinstance(inner, Mapping):
            yield from _nested_edges(inner)


def _level_name(level: int, n_levels: int) -> str:
    if n_levels == 1:
        return "topic"
    if n_levels == 2:
        return ("super", "sub")[level - 1]
    return f"level {level} topic"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
