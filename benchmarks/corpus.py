"""Reading and encoding a corpus: topoi.read_corpus against scikit-learn's CountVectorizer on the same texts.

``python benchmarks/corpus.py papers.jsonl.gz`` or, without a file, on a generated corpus. CountVectorizer is given the
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
    """Alternate the two, and print medians and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
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
            print(f"CountVectorizer {peer[-1]:6.2f} s    topoi.read_corpus {ours[-1]:6.2f} s")
        size = sum(a.nbytes for a in (corpus.tokens, corpus.token_start, corpus.token_end, corpus.doc_start))
        print(f"CountVectorizer: {matrix.shape[0]:,} documents, {matrix.shape[1]:,} words, {matrix.sum():,} tokens")
        print(corpus)
        print(f"medians: CountVectorizer {statistics.median(peer):.2f} s, topoi {statistics.median(ours):.2f} s")
        print(f"ratio: {statistics.median(peer) / statistics.median(ours):.2f} times as fast as CountVectorizer")
        print(f"arrays: {size / corpus.n_tokens:.1f} bytes per token (word id and two offsets)")


if __name__ == "__main__":
    main()
