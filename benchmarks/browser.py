"""How fast the browser answers: a server of its own, pages asked for at a steady rate, latencies by kind of page.

    python -m benchmarks.browser papers.topoi --rate 20 --seconds 60

Requests leave on schedule whether or not earlier ones have been answered, so that a slow page is not hidden by
waiting for it (no coordinated omission). Loopback only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .report import Report, add_json, progress

# How often each kind of page is asked for.
MIX = {
    "overview": 1,
    "topic": 5,
    "author": 5,
    "document": 5,
    "word": 2,
    "trends": 1,
    "authors": 1,
    "documents": 1,
    "documents of a topic and years": 2,
    "documents by an author": 1,
    "search": 2,
    "complete.json": 3,
    "map": 1,
    "map.json": 1,
    "together": 1,
    "oddities": 1,
}
# A paper of eight pages: some five thousand words.
PAPER_CHARACTERS = 32_000
COLUMNS = {
    "kind": "kind",
    "requests": "requests|,",
    "median": "median ms|.1f",
    "p95": "95 %|.1f",
    "p99": "99 %|.1f",
    "slowest": "slowest|.1f",
}
SERVER = {"start": "start, s|.2f", "memory": "memory after the run, MB|.0f", "cpu": "CPU ms a request|.1f"}


def free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def get(port: int, path: str, body: str | None = None, timeout: float = 60) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{path[:80]}: {answer.status} {content[:300]!r}")
        return content
    finally:
        connection.close()


def start(file: Path, port: int) -> tuple[subprocess.Popen[bytes], float]:
    """A server, and how long it took until it answered its first page."""
    command = [sys.executable, "-m", "topoi.cli.main", "browse", str(file), "--no-open", "--port", str(port)]
    begin = time.perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while True:
        try:
            get(port, "/", timeout=5)
            return server, time.perf_counter() - begin
        except OSError:
            if server.poll() is not None or time.perf_counter() - begin > 60:
                raise SystemExit("the server did not start") from None
            time.sleep(0.02)


def stop(server: subprocess.Popen[bytes]) -> None:
    """End a server as Ctrl-C does, so that what runs at the end of a program runs."""
    server.send_signal(signal.SIGINT)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def memory(server: subprocess.Popen[bytes]) -> float:
    """The server's resident memory, in MB (a million bytes)."""
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024 / 1e6  # type: ignore[index]


def cpu_seconds(server: subprocess.Popen[bytes]) -> float:
    """Processor time that the server has used."""
    fields = Path(f"/proc/{server.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Collection:
    """What there is to ask for."""

    def __init__(self, port: int) -> None:
        models = json.loads(get(port, self._first(port) + "models.json"))["models"]
        self.root = f"/m/{models[0]['slug']}/"
        page = json.loads(get(port, self.root + "overview.json"))
        self.topics = len(page["topics"])
        self.sizes = {
            "topic": self.topics,
            "author": page["collection"]["n_authors"],
            "document": page["collection"]["n_documents"],
            "word": page["collection"]["n_words"],
        }
        self.years = [page["collection"][f"{end}_year"] or 0 for end in ("first", "last")]
        self.words = [word for topic in page["topics"] for word in topic["words"]]

    @staticmethod
    def _first(port: int) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/")
        return str(connection.getresponse().headers["location"])

    def address(self, kind: str, chance: random.Random) -> str:
        if kind in self.sizes:
            return f"{self.root}{kind}/{chance.randrange(self.sizes[kind])}"
        if kind == "documents of a topic and years":
            first = chance.randint(self.years[0], self.years[1])
            asked = {"topic": chance.randrange(self.topics), "from": first, "to": min(first + 5, self.years[1])}
            return f"{self.root}documents?" + urllib.parse.urlencode(asked)
        if kind == "documents by an author":
            return f"{self.root}documents?author={chance.randrange(self.sizes['author'])}"
        if kind in ("search", "complete.json"):
            word = chance.choice(self.words)
            return f"{self.root}{kind}?" + urllib.parse.urlencode({"q": word[: chance.randint(2, 6)]})
        return self.root + ("" if kind == "overview" else kind)

    def text(self, port: int, n_characters: int, chance: random.Random) -> str:
        """Texts of the collection, one after the other, until they are that long."""
        text = ""
        while len(text) < n_characters:
            page = json.loads(get(port, self.address("document", chance) + ".json"))
            text += "".join(piece["text"] for piece in page["pieces"]) + "\n\n"
        return text[:200_000]


def schedule(collection: Collection, rate: float, seconds: float, seed: int) -> Iterator[tuple[float, str, str]]:
    chance = random.Random(seed)
    kinds, weights = list(MIX), list(MIX.values())
    for i in range(int(rate * seconds)):
        kind = chance.choices(kinds, weights)[0]
        yield i / rate, kind, collection.address(kind, chance)


def load(port: int, planned: Iterable[tuple[float, str, str]]) -> dict[str, list[float]]:
    """Milliseconds from when each request was due until it was answered, by kind of page."""
    found: dict[str, list[float]] = defaultdict(list)
    lock = threading.Lock()
    begin = time.perf_counter() + 0.2

    def ask(due: float, kind: str, path: str) -> None:
        get(port, path)
        elapsed = 1000 * (time.perf_counter() - begin - due)
        with lock:
            found[kind].append(elapsed)

    with ThreadPoolExecutor(64) as pool:
        jobs = []
        for due, kind, path in planned:
            time.sleep(max(0.0, begin + due - time.perf_counter()))
            jobs.append(pool.submit(ask, due, kind, path))
        for job in jobs:
            job.result()
    return found


def times(ask: Callable[[], object], n: int) -> list[float]:
    measured = []
    for _ in range(n):
        begin = time.perf_counter()
        ask()
        measured.append(1000 * (time.perf_counter() - begin))
    return measured


def labelling(port: int, collection: Collection, seed: int) -> list[dict[str, Any]]:
    """Rows for pasted texts, with their mean length, and for what is computed when it is asked for."""
    chance = random.Random(seed)

    def post(texts: Iterator[str]) -> None:
        get(port, collection.root + "parse.json", urllib.parse.urlencode({"text": next(texts)}))

    abstracts = [collection.text(port, 1, chance) for _ in range(20)]
    papers = [collection.text(port, PAPER_CHARACTERS, chance) for _ in range(10)]
    short, long = iter(abstracts), iter(papers)

    def again() -> None:
        get(port, collection.address("document", chance) + ".json?burn_in=10&samples=10&lag=2")

    def compare() -> None:
        two = {f"{side}.topic": chance.randrange(collection.topics) for side in "ab"}
        get(port, f"{collection.root}groups.json?{urllib.parse.urlencode(two)}")

    pasted = {
        "a document's text, pasted": (lambda: post(short), abstracts),
        f"texts of {PAPER_CHARACTERS:,} characters, pasted": (lambda: post(long), papers),
    }
    return [
        row("documents of two topics compared", times(compare, 5)),
        *(row(name, times(ask, len(texts))) | {"words": _mean_words(texts)} for name, (ask, texts) in pasted.items()),
        row("a document sampled again", times(again, 20)),
    ]


def _mean_words(texts: list[str]) -> float:
    return statistics.mean(len(text.split()) for text in texts)


def row(kind: str, values: list[float]) -> dict[str, Any]:
    """Quantiles of milliseconds."""
    ordered = sorted(values)
    p95, p99 = (ordered[math.ceil(part * len(ordered)) - 1] for part in (0.95, 0.99))
    found = {"median": statistics.median(ordered), "p95": p95, "p99": p99, "slowest": ordered[-1]}
    return {"kind": kind, "requests": len(values)} | found


def by_kind(found: dict[str, list[float]]) -> list[dict[str, Any]]:
    """A row for each kind, and one for all."""
    everything = [value for values in found.values() for value in values]
    return [*(row(kind, values) for kind, values in sorted(found.items())), row("all", everything)]


def main() -> None:
    """Measure, and print tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    options.add_argument("file", type=Path)
    options.add_argument("--rate", type=float, default=20.0, help="requests a second")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=0)
    add_json(options)
    given, report = options.parse_args(), Report()
    port = free_port()
    server, seconds = start(given.file, port)
    try:
        collection = Collection(port)
        for kind in MIX:  # what is compiled or read once is not what is measured
            for _ in range(3):
                get(port, collection.address(kind, random.Random(given.seed)))
        progress("what is computed when it is asked for")
        computed = labelling(port, collection, given.seed)
        progress("pages")
        before = cpu_seconds(server)
        found = load(port, schedule(collection, given.rate, given.seconds, given.seed + 1))
        spent = 1000 * (cpu_seconds(server) - before) / sum(map(len, found.values()))
        facts = {"start": seconds, "memory": memory(server), "cpu": spent}
    finally:
        stop(server)
    report.section("server", "The server", [facts], SERVER)
    report.section("pages", f"Pages, {given.rate:g} requests a second", by_kind(found), COLUMNS)
    report.section("computed", "What is computed, one at a time", computed, COLUMNS | {"words": "mean words|,.0f"})
    report.write(given.json)


if __name__ == "__main__":
    main()
