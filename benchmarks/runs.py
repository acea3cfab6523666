"""The benchmarks whose numbers the manual shows: as they are meant to be run, and as a run of seconds."""

from __future__ import annotations

from typing import NamedTuple


class Run(NamedTuple):
    """A benchmark as the manual shows it, and a run of seconds that calls the same functions."""

    words: str
    short: str

    @property
    def module(self) -> str:
        """What follows ``python -m``."""
        return self.words.split()[0]


# Stores that runs read, and the commands of the program that make them.
STORES = {
    "acl.topoi": (
        "fit $TOPOI_DATA/acl-abstracts.jsonl.gz --model author-topic --topics 300 -i 150 --seed 0 --quiet -o acl.topoi",
        "map acl.topoi --quiet",
    ),
}
_MANY = "benchmarks.many_topics"
_AUTHORS = "benchmarks.many_topics_authors --corpus acl-abstracts/4"
RUNS = {
    "speed": Run("benchmarks --only speed", "benchmarks --quick --only speed"),
    "quality": Run("benchmarks --only quality --corpus nips12", "benchmarks --quick --only quality"),
    "memory": Run("benchmarks --only memory --corpus simulated", "benchmarks --quick --only memory"),
    "threads": Run("benchmarks --only threads --corpus simulated", "benchmarks --quick --only threads"),
    "many-topics": Run(
        f"{_MANY} --topics 100 300 1000 4000",
        f"{_MANY} --topics 100 1000 --corpus short",
    ),
    "ten-thousand": Run(
        f"{_MANY} --topics 10000 --corpus short acl-abstracts/4",
        f"{_MANY} --topics 1000 --corpus short",
    ),
    "memory-many": Run(
        f"{_MANY} --memory --topics 10000 --corpus short acl-abstracts/4",
        f"{_MANY} --memory --topics 1000 --corpus short",
    ),
    "held-out": Run(
        f"{_MANY} --held-out --topics 100 300 1000 4000",
        f"{_MANY} --held-out --topics 100 --corpus short --budget 1",
    ),
    "authors": Run(
        f"{_AUTHORS} --models author-topic --topics 100 1000", f"{_AUTHORS} --models author-topic --topics 100"
    ),
    "years": Run(f"{_AUTHORS} --models regression --topics 100", f"{_AUTHORS} --models regression --topics 20"),
    "word-lists": Run(
        f"{_AUTHORS} --costs --topics 100 300 1000 --alpha-sums 50",
        f"{_AUTHORS} --costs --topics 100 --alpha-sums 50",
    ),
    "two-threads": Run("benchmarks.two_threads --alone", "benchmarks.two_threads --alone --documents 300 --rounds 1"),
    "pachinko": Run("benchmarks --only pachinko --corpus simulated", "benchmarks --quick --only pachinko"),
    "sparse": Run("benchmarks --only sparse --corpus nips12", "benchmarks --quick --only sparse"),
    "aspect": Run("benchmarks --only aspect --corpus nips12", "benchmarks --quick --only aspect"),
    "regression": Run("benchmarks --only dmr --corpus nips12", "benchmarks --quick --only dmr"),
    "kernel": Run("benchmarks --only kernel --corpus nips12", "benchmarks --quick --only kernel"),
    "sweep-costs": Run("benchmarks.scale --only tokens topics", "benchmarks.scale --only tokens topics --quick"),
    "workers": Run("benchmarks.scale --only workers", "benchmarks.scale --only workers --quick"),
    "others": Run("benchmarks.scale --only quality --budget 12", "benchmarks.scale --only quality --quick"),
    "ctm": Run("benchmarks.ctm --turns 3 --no-quality", "benchmarks.ctm --topics 5 --turns 1 --no-quality"),
    "rivals-ctm": Run(
        "benchmarks.rivals --family ctm --topics 20 60 --sweeps 200",
        "benchmarks.rivals --family ctm --corpus cranfield --topics 5 --sweeps 4",
    ),
    **{
        f"rivals-ctm-{seed}": Run(
            f"benchmarks.rivals --family ctm --corpus nips12 --topics 20 60 --sweeps 200 --seed {seed}",
            "benchmarks.rivals --family ctm --corpus cranfield --topics 5 --sweeps 4",
        )
        for seed in (1, 2)
    },
    "ctm-steps": Run("benchmarks.ctm_steps --seconds 8", "benchmarks.ctm_steps --seconds 1 --docs 20 --length 10"),
    "rivals-hdp": Run(
        "benchmarks.rivals --family hdp --sweeps 400",
        "benchmarks.rivals --family hdp --corpus cranfield --topics 20 --sweeps 4",
    ),
    "hdp": Run("benchmarks.hdp", "benchmarks.hdp"),
    "hdp-hundred": Run("benchmarks.hdp --start 100 --beta 0.01", "benchmarks.hdp --start 100 --beta 0.01"),
    "inference": Run("benchmarks.inference", "benchmarks.inference --quick"),
    "map": Run(
        "benchmarks.document_map nips12-abstracts cranfield newsgroups20 --iterations 100",
        "benchmarks.document_map cranfield --topics 10 --iterations 3",
    ),
    "frames": Run("benchmarks.map_frames --dots 100000", "benchmarks.map_frames --dots 2000 --seconds 1"),
    "ending": Run("benchmarks.ending", "benchmarks.ending lda"),
    "cold": Run("benchmarks.cold", "benchmarks.cold"),
    "on-disk": Run("benchmarks.on_disk --tokens 5e6 5e7 --sweeps 3", "benchmarks.on_disk --tokens 1e5 --sweeps 1"),
    "on-disk-text": Run(
        "benchmarks.on_disk --tokens 5e8 --sweeps 2 --text", "benchmarks.on_disk --tokens 1e5 --sweeps 1 --text"
    ),
    "saving": Run("benchmarks.saving 0.1", "benchmarks.saving 0.01"),
    "saving-ten": Run("benchmarks.saving 1", "benchmarks.saving 0.01"),
    "editing": Run("benchmarks.editing -i 50 -j 2", "benchmarks.editing cranfield -k 10 -i 10 -j 2"),
    "editing-acl": Run(
        "benchmarks.editing acl-abstracts -k 300 -i 30 -j 2", "benchmarks.editing cranfield -k 10 -i 10 -j 2"
    ),
    "store": Run("benchmarks.store acl.topoi", "benchmarks.store acl.topoi"),
    "judging": Run("benchmarks.judging", "benchmarks.judging --corpus cranfield --topics 5 --sizes 2 5 --sweeps 20"),
    "reading": Run("benchmarks.corpus acl-abstracts.jsonl.gz", "benchmarks.corpus cranfield.jsonl.gz --rounds 1"),
    "groups": Run(
        "benchmarks.groups acl.topoi --by year 2020.. 2010..2019 2000..2009 ..1999 2001..2002",
        "benchmarks.groups acl.topoi --by year 2020..",
    ),
    "questions": Run("benchmarks.questions acl.topoi", "benchmarks.questions acl.topoi"),
    "search": Run(
        "benchmarks.search acl.topoi --rate 20 --seconds 60",
        "benchmarks.search acl.topoi --rate 5 --seconds 8 --each 5",
    ),
    "browser": Run(
        "benchmarks.browser acl.topoi --rate 20 --seconds 60", "benchmarks.browser acl.topoi --rate 5 --seconds 10"
    ),
}
