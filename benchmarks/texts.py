"""Texts of the manual from the numbers of ``runs``: tables of several sections, sentences, charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.chart import line_chart

from .markdown import Kept, Row, beside, pick, shown, span, table

# How corpora are called in the manual.
CORPORA = {
    "acl-abstracts/4": "ACL abstracts, every fourth",
    "acl-abstracts/16": "ACL abstracts, every 16th",
    "acl-abstracts": "ACL abstracts",
    "nips12": "NIPS papers",
    "nips12/8": "NIPS papers, every eighth",
    "nips12-abstracts": "NIPS abstracts",
    "short": "simulated, short",
    "simulated": "simulated papers",
    "cranfield": "Cranfield abstracts",
    "newsgroups20": "newsgroups",
    "state-of-the-union": "State of the Union",
}
PEERS = ("tomotopy", "topica")
ALL_PEERS = (*PEERS, "gensim")
Rows = Sequence[Row]


def one(
    section: str,
    columns: Mapping[str, str],
    once: int = 0,
    peers: Sequence[str] = (),
    of: Callable[[Rows], Rows] | None = None,
) -> Callable[[Kept], str]:
    """A single table of one section, of rows as ``of`` makes them: the text of most blocks."""

    def text(run: Kept) -> str:
        rows = named(run["sections"][section])
        return shown([table(of(rows) if of else rows, columns, once)], run, peers=peers)

    return text


def named(rows: Rows) -> list[dict[str, Any]]:
    """Rows with corpora called as the manual calls them."""
    return [
        dict(row) | ({"corpus": CORPORA.get(row["corpus"], row["corpus"])} if "corpus" in row else {}) for row in rows
    ]


def rates(rows: Rows) -> list[dict[str, Any]]:
    """Tokens per second of all systems beside each other, with topoi's over that of the fastest exact peer."""
    found = beside(rows, ("corpus", "model", "n_topics"), "system", ("rate",))
    for row in found:
        here = pick(rows, corpus=row["corpus"], model=row["model"], n_topics=row["n_topics"])
        row["ratio"] = min(each["ratio"] for each in here if "ratio" in each and each["algorithm"] == "exact Gibbs")
    return found


def many_chart(run: Kept) -> str:
    """Tokens per second against topics, of the abstracts."""
    rows = pick(run["sections"]["speed"], corpus="acl-abstracts/4")
    systems = dict.fromkeys(row["system"] for row in rows)
    lines = {name: [(row["n_topics"], row["rate"]) for row in pick(rows, system=name)] for name in systems}
    return line_chart(lines, "topics (log scale)", "million tokens a second, one thread", log_x=True)


def ten_thousand(speeds: Kept, memories: Kept) -> str:
    """LDA with ten thousand topics: speed and memory."""
    rows = []
    for row in named(speeds["sections"]["speed"]):
        used = pick(named(memories["sections"]["memory"]), corpus=row["corpus"], system=row["system"])
        rows.append(row | {"used": used[0]["used"] if used else None})
    columns = {"corpus": "corpus", "system": "system", "rate": "M tokens/s|.2f", "ratio": "topoi is|.1f"}
    columns["used"] = "memory, MB|,.0f"
    return shown([table(rows, columns, 1)], speeds, memories, peers=PEERS)


def held_out(run: Kept) -> str:
    """Processor time to the same held-out level."""
    columns = {
        "corpus": "corpus",
        "n_topics": "K|,",
        "level": "level|.3f",
        "set_by": "set by",
        "ours": "topoi, CPU s|.2f",
    }
    columns |= {"peer": "fastest peer", "theirs": "its CPU s|.2f", "ratio": "topoi is|.1f"}
    rows = named(run["sections"]["held_out"])
    star = any(row["set_by"].endswith("*") for row in rows)
    said = ["A star: topoi's first sweep is above the level already."] if star else []
    return shown([table(rows, columns, 1), *said], run, peers=PEERS)


def quality(run: Kept) -> str:
    """Held-out likelihood against seconds, and who is there when."""
    parts = []
    for model in ("LDA", "author-topic"):
        rows = pick(run["sections"]["quality"], model=model)
        systems = [name for name in ("topoi", *ALL_PEERS) if any(row.get(name) is not None for row in rows)]
        columns = {"seconds": f"{model}: after seconds|g"} | {name: f"{name}|.3f" for name in systems}
        levels = {"system": "system", "level": "best level|.3f", "seconds": "its seconds|.1f"}
        levels |= {"ours": "topoi's seconds|.1f", "ratio": "topoi is|.1f"}
        reached = [row for row in pick(run["sections"]["quality_levels"], model=model) if row["system"] != "topoi"]
        parts += [table(rows, columns), table(reached, levels)]
    return shown(parts, run, peers=ALL_PEERS)


def threads(run: Kept) -> str:
    """Two shards on two threads, and what shards do to quality."""
    columns = {
        "corpus": "corpus",
        "model": "model",
        "exact": "one shard, s a sweep|.3f",
        "one": "two shards, one thread|.3f",
    }
    columns |= {"two": "two threads|.3f", "speed_up": "gain|.2f", "free": "machine gave|.2f"}
    losses = {"model": "model", "exact": "one shard|.4f", "shards": "two shards|.4f", "difference": "difference|+.4f"}
    losses |= {"least": "least|+.4f", "most": "most|+.4f"}
    parts = [table(named(run["sections"]["threads"]), columns, 1), table(run["sections"]["threads_quality"], losses)]
    return shown(parts, run)


def sparse(run: Kept) -> str:
    """Every setting of ``sparse`` on the abstracts."""
    parts = []
    rows = [
        dict(row) | {"scheme": "`" + row["scheme"].replace("'", '"') + "`"}
        for row in run["sections"]["sparse"]
        if row["corpus"].startswith("acl")
    ]
    for model in dict.fromkeys(row["model"] for row in rows):
        columns = {
            "scheme": f"{model}: `sparse=`",
            "exact_sweep": "exact sweep, s|.2f",
            "pruned_sweep": "pruned sweep, s|.2f",
        }
        columns |= {"total": "whole fit, s|.1f", "peak": "peak MB|.0f", "counts": "counts MB|.1f"}
        columns |= {"paths": "paths considered|,.0f", "perplexity": "held-out perplexity|,.0f"}
        parts.append(table(pick(rows, model=model), columns))
    return shown(parts, run)


def sweep_costs(run: Kept) -> str:
    """The cost of a sweep against tokens and against topics."""
    tokens = {
        "tokens": "tokens, K = 100",
        "seconds": "CPU s a sweep|.3f",
        "per_token": "ns a token|.0f",
        "ratio": "over the first|.2f",
    }
    topics = {"n_topics": "K, a million tokens|,", "seconds": "CPU s a sweep|.3f", "per_token": "ns a token|.0f"}
    sizes = [row | {"tokens": f"{row['tokens'] / 1e6:.0f} million"} for row in run["sections"]["tokens"]]
    parts = [table(sizes, tokens), table(run["sections"]["topics"], topics)]
    return shown(parts, run)


def others(run: Kept) -> str:
    """Held-out likelihood against seconds, other programs beside topoi."""
    rows = run["sections"]["quality"]
    systems = [name for name in rows[0] if name != "seconds"]
    levels = {"system": "system", "level": "best level|.3f", "sweeps": "sweeps or passes", "seconds": "its seconds|.1f"}
    levels |= {"ours": "topoi's seconds|.1f", "ratio": "topoi is|.1f"}
    columns = {"seconds": "seconds|g"} | {name: f"{name}|.3f" for name in systems}
    return shown([table(rows, columns), table(run["sections"]["levels"], levels)], run)


def other_starts(*runs: Kept) -> str:
    """Correlated topics of the long documents, from three starts."""
    rows = [
        {"seed": seed} | row
        for seed, run in enumerate(runs)
        for row in pick(run["sections"]["ctm"], corpus="nips12")
        if row["system"] != "tomotopy"
    ]
    found = beside(rows, ("start", "system"), "seed", ("perplexity",))
    columns = {"start": "topics", "system": "system"}
    columns |= {f"perplexity {seed}": f"seed {seed}|,.0f" for seed in range(len(runs))}
    return shown([table(found, columns, 1)], *runs[1:])


def hdp(first: Kept, second: Kept) -> str:
    """The hierarchical process: a sweep beside tomotopy's."""
    columns = {"begins": "begins with", "system": "system", "ms": "ms a sweep|.1f", "n_topics": "topics"}
    starts = ("20 topics, beta 0.1", "100 topics, beta 0.01")
    rows = [
        {"begins": start} | row
        for start, run in zip(starts, (first, second), strict=True)
        for row in run["sections"]["hdp"]
    ]
    return shown([table(rows, columns, 1)], first, second, peers=("tomotopy",))


def inference_distance(run: Kept) -> str:
    """What the speed of inference costs."""
    columns = {"alpha": "alpha|.4f", "how": "how", "shares": "mean sum of differences|.3f"}
    columns |= {"largest": "mean largest|.3f", "first": "same first topic|.0%"}
    return table(run["sections"]["distances"], columns, 1)


def ending(run: Kept) -> str:
    """From a signal to the end."""
    signals = list(dict.fromkeys(row["signal"] for row in run["sections"]["ending"]))
    rows = beside(run["sections"]["ending"], ("family",), "signal", ("wall", "saved"))
    columns = {"family": "fit"}
    columns |= {
        f"{what} {name}": heading
        for name in signals
        for what, heading in (("wall", f"{name}, s|.2f"), ("saved", "kept as"))
    }
    return shown([table(rows, columns)], run)


def on_disk(run: Kept, large: Kept) -> str:
    """A corpus on disk."""
    columns = {
        "tokens": "tokens|,",
        "step": "step",
        "processor": "CPU s|.1f",
        "peak": "peak MB|,.0f",
    }
    columns |= {"anonymous": "of the process|,.0f", "mapped": "of files|,.0f", "disk": "bytes a token on disk|.1f"}
    rows = [*run["sections"]["on_disk"], *large["sections"]["on_disk"]]
    return shown([table(rows, columns, 1)], run, large)


def saving(small: Kept, large: Kept) -> str:
    """Memory of save."""
    columns = {"corpus": "corpus", "tokens": "tokens|,", "before": "MB of model and corpus|,.0f"}
    columns |= {"added": "MB that save adds|,.0f", "file": "MB of the file|,.0f", "cpu": "CPU s|.1f"}
    rows = [row for pair in zip(small["sections"]["saving"], large["sections"]["saving"], strict=True) for row in pair]
    return shown([table(rows, columns, 1)], small, large)


def store(run: Kept) -> str:
    """Sizes and times of a store: processor time of what takes long, and what somebody waits for the rest."""
    columns = {"step": "step", "cpu": "CPU s|.1f", "waited": "or ms waited|.1f", "size": "MB|,.0f"}
    rows = [
        dict(row) if row.get("cpu", 0.0) >= 0.1 else dict(row) | {"cpu": None, "waited": 1000 * row["seconds"]}
        for row in run["sections"]["steps"]
    ]
    return shown([table(rows, columns)], run)


def editing(papers: Kept, abstracts: Kept) -> str:
    """Edits in memory and in a store."""
    columns = {"where": "collection", "edit": "edit"}
    for step in ("call", "preview", "commit", "undo"):
        columns |= {step: f"{step}, s|.1f", f"{step}_cpu": "CPU s|.1f"}
    rows = []
    for name, run in (("simulated papers", papers), ("ACL abstracts", abstracts)):
        rows += [{"where": name} | row for row in run["sections"]["memory"]]
        rows += [{"where": f"{name}, in a store"} | row for row in run["sections"]["store"]]
    return shown([table(rows, columns, 1)], papers, abstracts)


LATENCIES = {"requests": "requests|,", "median": "median ms|.0f", "p95": "95 %|.0f", "p99": "99 %|.0f"}
LATENCIES["slowest"] = "slowest|.0f"


def search(run: Kept) -> str:
    """Latencies of searches, and the server's cost."""
    server = run["sections"]["server"][0]
    said = (
        f"A request costs the server {server['cpu']:.0f} ms of processor time. It holds {server['memory']:.0f} MB at "
        f"the start, {server['memory_middle']:.0f} in the middle and {server['memory_end']:.0f} at the end."
    )
    alone = [
        row | {"kind": row["kind"].replace("library", "in Python")}
        for row in run["sections"]["process"]
        if row["kind"] != "all"
    ]
    parts = [
        table(run["sections"]["latencies"], {"kind": "a page for"} | LATENCIES),
        table(alone, {"kind": "one at a time, processor time"} | LATENCIES),
    ]
    return shown([*parts, said], run)


def browser(run: Kept) -> str:
    """Latencies of pages, and the server's cost."""
    server = run["sections"]["server"][0]
    said = (
        f"The server starts in {server['start']:.1f} s, holds {server['memory']:.0f} MB after this run, and needs "
        f"{server['cpu']:.0f} ms of processor time for a page."
    )
    parts = [
        table(run["sections"]["pages"], {"kind": "page"} | LATENCIES),
        table(
            run["sections"]["computed"], {"kind": "computed when asked for"} | LATENCIES | {"words": "mean words|,.0f"}
        ),
    ]
    return shown([*parts, said], run)


def summary(speeds: Kept, topics: Kept, level: Kept, people: Kept, paths: Kept, costs: Kept) -> str:
    """What a reader wants to know first."""
    lda = rates(topics["sections"]["speed"])
    few = span([row["ratio"] for row in lda if row["n_topics"] == 100])
    lots = span([row["ratio"] for row in lda if row["n_topics"] >= 1000])
    papers = [row for row in rates(speeds["sections"]["speed"]) if row["model"] == "author-topic"]
    by_authors = span([row["ratio"] for row in (*papers, *rates(people["sections"]["speed"]))], 0)
    four = span([row["ratio"] for row in rates(paths["sections"]["speed"])], 0)
    same = span([row["ratio"] for row in level["sections"]["held_out"]])
    whole = 500 * pick(costs["sections"]["topics"], n_topics=100)[0]["seconds"]
    return "\n".join(
        (
            f"* **LDA**, tokens per second beside the fastest exact sampler of the others: {few} times as many with",
            f"  100 topics, {lots} times with 1,000 and 4,000. 500 sweeps over a million words (10,000 abstracts) with",
            f"  100 topics take {whole:.0f} seconds on one thread of the machine below.",
            f"* **To the same held-out quality**: {same} times as fast as the fastest peer.",
            f"* **Author-topic models**: {by_authors} times topica, the only other of these that samples them.",
            f"* **Pachinko allocation**, four levels: {four} times tomotopy ([its page](pachinko.md#speed)).",
        )
    )


def readme(speeds: Kept) -> str:
    """What README says of speed."""
    rows = rates(speeds["sections"]["speed"])
    few, lots, by_authors = (
        span([row["ratio"] for row in rows if (row["model"], row["n_topics"]) == which], digits)
        for which, digits in ((("LDA", 100), 1), (("LDA", 1000), 1), (("author-topic", 100), 0))
    )
    return "\n".join(
        (
            "* **Exact and fast.** Topics and authors are drawn jointly, from the exact conditional, by one collapsed",
            "  Gibbs sampler that is compiled for your processor's vector units. On two corpora of NIPS size, with one",
            f"  thread, LDA is {few} times as fast as the fastest other exact sampler at 100 topics and {lots} times",
            f"  at 1000, author-topic models {by_authors} times at 100. The [benchmarks](docs/benchmarks.md) compare",
            "  the packages in one run (`make bench`).",
        )
    )


def one_thread(rows: Rows) -> Rows:
    """Regressions on one thread, with all systems beside each other."""
    return beside(pick(rows, threads=1), ("n_topics", "columns"), "system", ("cpu", "ratio"))


def told(rows: Rows) -> Rows:
    """Ways of inference: topoi's sampling with its sweeps; no number of threads where the system chooses it."""
    own = {"gibbs": "gibbs, 20 + 100 sweeps"}
    return [dict(row) | {"threads": row["threads"] or None, "how": own.get(row["how"], row["how"])} for row in rows]
