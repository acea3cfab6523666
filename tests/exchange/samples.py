"""Models of every family on a corpus with an empty document, a word that never occurs, and ids; each in a store too."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from models import test_contract as contract

WITH_TOPICS = contract.WITH_TOPICS
NO_STATE = ("AspectModel", "KernelTopicModel", "PLSI")
SAMPLED = [name for name in WITH_TOPICS if name not in NO_STATE]
MALLET = Path(__file__).parent / "mallet"


def corpus() -> topoi.Corpus:
    """Three subjects; document 5 is empty, "unheard" is in the vocabulary alone."""
    rng = np.random.default_rng(0)
    lists = [list(rng.choice(contract.SUBJECTS[d % 3].split(), 6 + d % 4)) for d in range(24)]
    lists[5] = []
    words = sorted({*" ".join(contract.SUBJECTS).split(), "unheard"})
    authors = [["Drake", "Cook", "Tull", "Coke"][d % 3 : d % 3 + 1 + d % 2] for d in range(24)]
    dates = [1900 + d for d in range(24)]
    ids = [f"paper {d}" for d in range(24)]
    return topoi.Corpus.from_tokens(lists, authors=authors, words=words, dates=dates, ids=ids)


def save_all(path: Path) -> dict[str, Any]:
    """Every model with topics, fitted, and saved under the name of its class."""
    found, documents = {}, corpus()
    for name in WITH_TOPICS:
        found[name] = contract.make(name).fit(documents)
        found[name].save(path, name=name)
    return found


def lines_of(path: Path) -> list[str]:
    """Lines of a gzipped file."""
    return gzip.decompress(path.read_bytes()).decode().splitlines()
