"""Reading and encoding a corpus: topoi.read_corpus against scikit-learn's CountVectorizer on the same texts.

``python -m benchmarks.corpus papers.jsonl.gz`` or, without a file, on a generated corpus. CountVectorizer is given the
texts in memory; topoi also reads and decodes the file, and keeps word order, offsets, authors and metadata.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import topoi
from topoi.corpus.stopwords import english_stop_words

from .report import Report, add_json, progress

COLUMNS = {
    "system": "system",
    "documents": "documents|,",
    "words": "words|,",
    "tokens": "tokens|,",
    "seconds": "s|.2f",
    "ratio": "times as fast|.2f",
    "bytes": "bytes a token|.1f",
}
REMARK = "Medians of the rounds; arrays of topoi hold a word id and two offsets a token."


def generated(folder: Path, n_docs: int = 20_000) -> Path:
    """Write a corpus of random Zipf-like words."""
    rng = np.random.default_rng(0)
    words = np.array([f"{a}{b}{c}" for a in "bdfglmnprst" for b in ("an", "ero", "il", "ou", "ex") for c in range(700)])
    words = np.char.translate(words, str.maketrans("0123456789", "aeiouklmnr"))
    path = folder / "generated.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        for d in range(n_docs):
            drawn = words[np.minimum(rng.zipf(1.3, 150), len(words)) - 1]
            file.write(json.dumps({"id": d, "text": " ".join(drawn), "authors": [f"author {d % 997}"]}) + "\n")
    return path


def texts_of(path: Path) -> list[str]:
    """Read the texts for the peer, outside the timing."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def timed(work):
    """Return the seconds and the result of a call."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def main() -> None:
    """Alternate the two, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    add_json(parser)
    arguments, report = parser.parse_args(), Report()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.path or generated(Path(folder))
        texts = texts_of(path)
        topoi.Corpus.from_texts(["compile now", "compile now"], max_df=1.0)
        stop = sorted(english_stop_words())
        peer, ours = [], []
        for _ in range(arguments.rounds):
            vectorizer = CountVectorizer(stop_words=stop, min_df=2, max_df=0.8)
            seconds, matrix = timed(lambda v=vectorizer: v.fit_transform(texts))
            peer.append(seconds)
            seconds, corpus = timed(lambda: topoi.read_corpus(path))
            ours.append(seconds)
            progress(f"CountVectorizer {peer[-1]:.2f} s, topoi.read_corpus {ours[-1]:.2f} s")
    size = sum(a.nbytes for a in (corpus.tokens, corpus.token_start, corpus.token_end, corpus.doc_start))
    theirs, mine = statistics.median(peer), statistics.median(ours)
    sizes = {"documents": matrix.shape[0], "words": matrix.shape[1], "tokens": int(matrix.sum())}
    own = {"documents": corpus.n_docs, "words": corpus.n_words, "tokens": corpus.n_tokens}
    own |= {"bytes": size / corpus.n_tokens}
    rows = [
        {"system": "CountVectorizer", **sizes, "seconds": theirs, "ratio": 1.0},
        {"system": "topoi.read_corpus", **own, "seconds": mine, "ratio": theirs / mine},
    ]
    report.section("reading", "Reading and encoding a corpus", rows, COLUMNS, REMARK)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
