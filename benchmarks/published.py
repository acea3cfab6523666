"""What the manual shows of the benchmarks: the blocks of its pages, each from one run or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .markdown import Kept, pick
from .texts import (
    ALL_PEERS,
    PEERS,
    browser,
    editing,
    ending,
    hdp,
    held_out,
    inference_distance,
    many_chart,
    on_disk,
    one,
    one_thread,
    other_starts,
    others,
    quality,
    rates,
    readme,
    saving,
    search,
    sparse,
    store,
    summary,
    sweep_costs,
    ten_thousand,
    threads,
    told,
)


class Block(NamedTuple):
    """What stands between two comments of a page: the runs that it is made from, and how."""

    runs: tuple[str, ...]
    text: Callable[..., str]


SPEED = {"corpus": "corpus", "model": "model", "n_topics": "K|,", "rate topoi": "topoi|.1f"}
MANY = {"corpus": "corpus", "n_topics": "K|,", "rate topoi": "topoi|.1f"}
RATIO = {"ratio": "topoi is|.1f"}
RIVALS = {"corpus": "corpus", "start": "from", "n_topics": "topics", "system": "system", "sweeps": "sweeps"}
RIVALS |= {"seconds": "CPU s|.1f", "half": "perplexity after half|,.0f", "perplexity": "after all|,.0f"}
# Blocks of a single run: its name is the block's.
ALONE: dict[str, Callable[[Kept], str]] = {
    "speed": one("speed", SPEED | {f"rate {name}": f"{name}|.3g" for name in ALL_PEERS} | RATIO, 2, ALL_PEERS, rates),
    "many-topics": one("speed", MANY | {f"rate {name}": f"{name}|.2f" for name in PEERS} | RATIO, 1, PEERS, rates),
    "held-out": held_out,
    "quality": quality,
    "memory": one(
        "memory",
        {"model": "model", "n_topics": "K|,", "system": "system", "used": "MB|.0f", "per_token": "bytes a token|.0f"}
        | {"ratio": "times topoi's|.2f"},
        2,
        ALL_PEERS,
    ),
    "threads": threads,
    "two-threads": one(
        "two_threads",
        {"model": "model", "size": "K", "documents": "documents|,", "one": "one thread, s|.3f", "two": "two, s|.3f"}
        | {"speed_up": "gain|.2f", "free": "machine gave|.2f"},
    ),
    "authors": one(
        "speed",
        {"n_topics": "K|,", "rate topoi": "topoi|.2f", "rate topica": "topica|.3f", "ratio": "topoi is|.0f"},
        peers=("topica",),
        of=rates,
    ),
    "years": one(
        "regression",
        {"system": "system", "rate": "M tokens/s|.2f", "ratio": "topoi is|.1f", "lowest": "least|.1f"}
        | {"highest": "most|.1f"},
        peers=PEERS,
        of=lambda rows: pick(rows, threads=1),
    ),
    "word-lists": one(
        "costs",
        {"model": "model", "n_topics": "K|,", "sweep": "sweep", "lines": "lines|.1f"}
        | {"without": "words without a list|.0%", "lists": "lists, ns|.0f", "dense": "dense, ns|.0f"}
        | {"ratio": "dense / lists|.2f"},
        2,
    ),
    "pachinko": one(
        "speed",
        {"model": "model", "n_topics": "sub-topics", "rate topoi": "topoi, M tokens/s|.1f"}
        | {"rate tomotopy": "tomotopy|.3f", "ratio": "topoi is|.0f"},
        peers=("tomotopy",),
        of=rates,
    ),
    "sparse": sparse,
    "aspect": one(
        "aspect",
        {"n_aspects": "aspects", "ep": "EP, ns|.1f", "vb": "VB, ns|.1f", "ratio": "EP / VB|.1f"}
        | {"ep_passes": "passes of EP|.0f", "vb_passes": "of VB|.0f", "ratio_to_end": "EP / VB to the end|.2f"},
    ),
    "kernel": one(
        "kernel",
        {"corpus": "corpus", "documents": "documents|,", "solver": "solver", "sweep": "sweep over words, s|.3f"}
        | {"step": "Newton step, s|.2f", "evidence": "one evidence, s|.2f", "bands": "100 bands, s|.2f"}
        | {"peak": "peak MB|,.0f"},
        1,
    ),
    "sweep-costs": sweep_costs,
    "workers": one(
        "workers",
        {"tokens": "tokens|,", "n_topics": "K", "n_workers": "workers", "seconds": "s a sweep|.2f"}
        | {"threads": "as threads|.2f", "sent": "MB a sweep|.1f", "predicted": "predicted s|.2f"}
        | {"off": "off by|+.0%", "predicted_sent": "predicted MB|.1f"},
        2,
    ),
    "others": others,
    "ctm": one(
        "speed",
        {"n_topics": "K", "topoi": "topoi, s a sweep|.3f", "tomotopy": "tomotopy|.2f", "ratio": "topoi is|.0f"},
        peers=("tomotopy",),
    ),
    "ctm-steps": one(
        "steps",
        {"step": "step of eta", "rate": "sweeps a second|.0f", "shares": "effective samples a second: shares|.1f"}
        | {"covariances": "covariances|.1f"},
    ),
    "rivals-ctm": one("ctm", {key: head for key, head in RIVALS.items() if key != "start"}, 2, PEERS),
    "rivals-hdp": one("hdp", RIVALS, 2, PEERS),
    "inference": one(
        "transform",
        {"system": "system", "how": "how", "threads": "threads", "cpu": "CPU µs a document|,.0f"}
        | {"rate": "documents a second|,.0f"},
        2,
        PEERS,
        told,
    ),
    "map": one(
        "documents",
        {"corpus": "corpus", "documents": "documents|,", "system": "system"}
        | {f"{what}_{k}": f"{what}, {k}|.3f" for what in ("trust", "kept") for k in (10, 30)}
        | {"cpu": "CPU s|.0f", "seconds": "s|.0f"},
        2,
    ),
    "frames": one(
        "frames",
        {"dots": "dots|,", "shown": "drawn while it moves|,", "rate": "frames a second|.0f"}
        | {"middle": "ms of script a frame|.0f"},
    ),
    "ending": ending,
    "cold": one("cold", {"step": "what", "first": "first, CPU s|.1f", "again": "again, CPU s|.1f"}),
    "reading": one(
        "reading",
        {"system": "system", "tokens": "tokens|,", "seconds": "s|.2f", "ratio": "times as fast|.1f"}
        | {"bytes": "bytes a token|.1f"},
    ),
    "groups": one(
        "groups",
        {"group": "years", "seconds": "CPU s|.1f", "clear": "topics that differ clearly", "n_topics": "of"},
    ),
    "store": store,
    "questions": one("questions", {"question": "question", "seconds": "CPU s|.2f"}),
    "search": search,
    "browser": browser,
}
BLOCKS: dict[str, Block] = {name: Block((name,), text) for name, text in ALONE.items()} | {
    "ten-thousand": Block(("ten-thousand", "memory-many"), ten_thousand),
    "regression-speed": Block(
        ("regression",),
        one(
            "dmr_speed",
            {"n_topics": "K", "columns": "columns"}
            | {f"cpu {name}": f"{name}, s|.3f" for name in ("topoi", *PEERS)}
            | {f"ratio {name}": f"topoi over {name}|.1f" for name in PEERS},
            1,
            PEERS,
            one_thread,
        ),
    ),
    "regression-quality": Block(
        ("regression",),
        one(
            "dmr_quality",
            {"n_topics": "K", "columns": "columns", "system": "system", "perplexity_0": "from metadata alone|,.0f"}
            | {f"perplexity_{n}": f"and {n} words|,.0f" for n in (16, 64)},
            2,
            PEERS,
            lambda rows: [row for row in rows if row.get("perplexity_0") is not None],
        ),
    ),
    "rivals-ctm-starts": Block(("rivals-ctm", "rivals-ctm-1", "rivals-ctm-2"), other_starts),
    "hdp": Block(("hdp", "hdp-hundred"), hdp),
    "inference-distance": Block(("inference",), inference_distance),
    "on-disk": Block(("on-disk", "on-disk-text"), on_disk),
    "coherence": Block(
        ("judging",),
        one(
            "coherence",
            {"measure": "measure", "topoi": "topoi|.4f", "gensim": "gensim|.4f", "seconds": "topoi, CPU s|.3f"}
            | {"theirs": "gensim, CPU s|.1f"},
            peers=("gensim",),
        ),
    ),
    "topic-numbers": Block(
        ("judging",),
        one("sizes", {"n_topics": "topics|,", "perplexity": "perplexity|,.0f", "chosen": "recommended"}),
    ),
    "saving": Block(("saving", "saving-ten"), saving),
    "editing": Block(("editing", "editing-acl"), editing),
    "readme": Block(("speed",), readme),
    "summary": Block(("speed", "many-topics", "held-out", "authors", "pachinko", "sweep-costs"), summary),
}
CHARTS: dict[str, Block] = {"many-topics": Block(("many-topics",), many_chart)}
