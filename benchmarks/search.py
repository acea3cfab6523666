"""How fast search answers: many different queries at a steady rate from a server, and one by one in this process.

    python -m benchmarks.search papers.topoi --rate 20 --seconds 60

Queries have one to six words, rare and frequent, words of a title, names of authors. What a server shares with other
programs of the machine shows in its latencies, hardly in its processor time: both are given. Loopback only; at most
``--most`` requests.
"""

from __future__ import annotations

import argparse
import random
import time
import urllib.parse
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import topoi

from .browser import COLUMNS, Collection, by_kind, cpu_seconds, free_port, get, load, memory, start, stop
from .report import Report, add_json, progress

# A word is frequent if it is one of the first so many, rare if it has at most so many uses.
FREQUENT, RARE = 300, 30
# How often each kind of query is asked.
MIX = {"frequent": 3, "rare": 2, "two or three words": 5, "four to six words": 4, "title": 2, "author": 2,
       "author and word": 2}  # fmt: skip
SERVER = {
    "requests": "requests|,",
    "rate": "a second|g",
    "cpu": "CPU ms each|.1f",
    "memory": "MB at the start|.0f",
    "memory_middle": "in the middle|.0f",
    "memory_end": "at the end|.0f",
}


class Queries:
    """Words, titles and names of a store to ask for."""

    def __init__(self, path: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        with topoi.open_store(path) as store:
            words = store.sql("SELECT word, n_tokens FROM word WHERE n_tokens > 0 ORDER BY n_tokens DESC")
            titles = store.sql("SELECT title FROM document WHERE title IS NOT NULL ORDER BY document_id LIMIT 50000")
            names = store.sql("SELECT author FROM author ORDER BY author_id LIMIT 50000")
        self.words = words["word"].tolist()
        self.rare = words["word"][words["n_tokens"] <= RARE].tolist() or self.words
        self.titles, self.names = titles["title"].tolist() or self.words, names["author"].tolist() or self.words

    def _some_words(self, least: int, most: int) -> str:
        """Words of all frequencies: the rank is uniform in its logarithm, as in running text."""
        n = self._chance.randint(least, most)
        return " ".join(self.words[int(len(self.words) ** self._chance.random()) - 1] for _ in range(n))

    def draw(self) -> tuple[str, str]:
        """A kind of query, and a query."""
        kind, chance = self._chance.choices(list(MIX), list(MIX.values()))[0], self._chance
        if kind == "frequent":
            return kind, chance.choice(self.words[:FREQUENT])
        if kind == "rare":
            return kind, chance.choice(self.rare)
        if kind == "title":
            return kind, " ".join(chance.choice(self.titles).split()[:6])
        if kind == "author":
            return kind, chance.choice(self.names)
        if kind == "author and word":
            return kind, f"{chance.choice(self.names)} {self._some_words(1, 2)}"
        return kind, self._some_words(2, 3) if kind.startswith("two") else self._some_words(4, 6)


def planned(root: str, queries: Queries, rate: float, n: int) -> Iterator[tuple[float, str, str]]:
    """When each request is due, its kind, and its address."""
    for i in range(n):
        kind, query = queries.draw()
        yield i / rate, kind, f"{root}search?" + urllib.parse.urlencode({"q": query})


def by_server(given: Any, report: Report) -> None:
    """Latencies, processor time and memory of a server at a steady rate."""
    port = free_port()
    server, _ = start(given.file, port)
    n = min(int(given.rate * given.seconds), given.most)
    try:
        root, queries = Collection(port).root, Queries(given.file, given.seed)
        for _, _, path in planned(root, queries, given.rate, 40):  # what is read or compiled once is not measured
            get(port, path)
        sizes, found, before = [memory(server)], defaultdict(list), cpu_seconds(server)
        for half in (n // 2, n - n // 2):
            for kind, values in load(port, planned(root, queries, given.rate, half)).items():
                found[kind] += values
            sizes.append(memory(server))
        spent = 1000 * (cpu_seconds(server) - before) / max(n, 1)
    finally:
        stop(server)
    facts = {"requests": n, "rate": given.rate, "cpu": spent}
    facts |= dict(zip(("memory", "memory_middle", "memory_end"), sizes, strict=True))
    report.section("server", "The server", [facts], SERVER)
    report.section("latencies", "Latencies of searches", by_kind(found), COLUMNS)


def in_process(given: Any, report: Report) -> None:
    """Processor time of queries in this process, through the library and as whole pages."""
    queries = Queries(given.file, given.seed + 1)
    view = topoi.view(given.file)
    search, names = topoi.Search(view), queries.names
    chance = random.Random(given.seed)

    def ask(**more: Any) -> Callable[[str], object]:
        return lambda query: search.query(query, n=20, **more)

    ways: dict[str, Callable[[str], object]] = {
        "library": ask(),
        "library, an author in the query": lambda query: search.query(query, chance.choice(names), n=20),
        "library, years 2010 to 2015": ask(years=(2010, 2015)),
        "library, by an author": lambda query: search.query(query, n=20, by=chance.choice(names)),
        "page as HTML": _page(given.file),
    }
    found: dict[str, list[float]] = defaultdict(list)
    for name, way in ways.items():
        progress(name)
        for at in range(given.each + 20):
            query = queries.draw()[1]
            begin = time.process_time()
            try:
                way(query)
            except topoi.ModelError:
                continue  # no word of the query is known
            if at >= 20:
                found[name].append(1000 * (time.process_time() - begin))
    report.section("process", "Processor time, one query at a time", by_kind(found), COLUMNS)


def _page(path: Path) -> Callable[[str], object]:
    """A function that builds a search page, without HTTP."""
    from topoi.web.links import Links
    from topoi.web.pages.search import search_page
    from topoi.web.server import Server

    server = Server(path, read_only=True)

    def build(query: str) -> object:
        view, context = server.watcher.ask(None, lambda context: (search_page(context, query), context))
        return server.as_html(view, context, Links(context.model["slug"], "search", {"q": [query]}), None)  # type: ignore[arg-type]

    return build


def main() -> None:
    """Measure, and print tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    options.add_argument("file", type=Path)
    options.add_argument("--rate", type=float, default=20.0, help="requests a second")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--most", type=int, default=5000, help="largest number of requests")
    options.add_argument("--each", type=int, default=150, help="queries of each kind in this process")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", choices=["server", "process"], help="one of the two parts")
    add_json(options)
    given, report = options.parse_args(), Report()
    if given.only != "process":
        progress("the server")
        by_server(given, report)
    if given.only != "server":
        in_process(given, report)
    report.write(given.json)


if __name__ == "__main__":
    main()
