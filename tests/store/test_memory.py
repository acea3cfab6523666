"""What ``save`` holds does not grow with the corpus: it is measured for a corpus and for one four times the size.

Memory is what Python and numpy allocate beyond the fitted model. SQLite's own is bounded by its cache.
"""

import tracemalloc

import numpy as np
import pytest

import topoi
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary

N_TOPICS = 20


def corpus_of(n_tokens, n_docs, n_words):
    """Random words with their texts; every word occurs."""
    tokens = np.random.default_rng(0).integers(n_words, size=n_tokens, dtype=np.int32)
    tokens[:n_words] = np.arange(n_words)
    start = np.linspace(0, n_tokens, n_docs + 1).astype(np.int64)
    at = np.arange(n_tokens) - np.repeat(start[:-1], np.diff(start))
    return topoi.Corpus(
        tokens=tokens,
        doc_start=start,
        vocabulary=Vocabulary([f"w{w:06}" for w in range(n_words)], Analyzer()),
        doc_author=np.zeros(0, np.int32),
        doc_author_start=np.zeros(n_docs + 1, np.int64),
        authors=[],
        token_start=(8 * at).astype(np.int32),
        token_end=(8 * at + 7).astype(np.int32),
        texts=[" ".join(f"w{w:06}" for w in tokens[a:b].tolist()) for a, b in zip(start, start[1:], strict=False)],
    )


def added(corpus, path):
    """Bytes that ``save`` allocates at its peak, beyond what there was."""
    model = topoi.LDA(N_TOPICS, n_iter=10, random_state=0).fit(corpus)
    tracemalloc.start()
    try:
        model.save(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# Tokens, documents and words; which of them grows; and how many bytes more may be held for each more: assignments are
# copied (two bytes a token), a word has its counts.
SHAPES = {
    "many tokens": ((150_000, 1_500, 2_000), 0, 8),
    "one long document": ((150_000, 1, 2_000), 0, 3),
    "many words": ((40_000, 400, 10_000), 2, 250),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_memory_of_save_does_not_follow_the_corpus(monkeypatch, tmp_path, name):
    # Blocks that a small corpus fills.
    monkeypatch.setattr("topoi.store.corpus_rows.BLOCK", 2**12)
    monkeypatch.setattr("topoi.store.postings.BLOCK", 2**12)
    monkeypatch.setattr("topoi.corpus.pieces.BLOCK", 2**12)
    monkeypatch.setattr("topoi.corpus.pieces.ranges.__defaults__", (2**12,))
    monkeypatch.setattr("topoi.corpus.blocks._ROWS_AT_A_TIME", 2**9)
    monkeypatch.setattr("topoi.store.arrays.PART_BYTES", 2**14)
    monkeypatch.setattr("topoi.models.labels.telling._CELLS_TO_MULTIPLY", 2**16)
    monkeypatch.setattr("topoi.models.labels.phrases._TOKENS_AT_ONCE", 2**12)
    monkeypatch.setattr("topoi.models.sources._MANY_CELLS", 2**16)
    monkeypatch.setattr("topoi.models.averages._CELLS_AT_ONCE", 2**16)
    small, axis, most = SHAPES[name]
    large = tuple(4 * n if i == axis or (axis == 2 and i == 0) else n for i, n in enumerate(small))
    added(corpus_of(500, 10, 20), tmp_path / "first.topoi")  # what is made once
    held = [added(corpus_of(*shape), tmp_path / f"{shape[axis]}.topoi") for shape in (small, large)]
    more = large[axis] - small[axis]
    assert held[1] - held[0] < most * more, f"{(held[1] - held[0]) / more:.1f} bytes more for each"


def test_a_long_document_is_the_same_in_parts(monkeypatch, tmp_path):
    corpus = corpus_of(3_000, 3, 40)
    model = topoi.LDA(2, n_iter=2, random_state=0).fit(corpus)
    model.save(tmp_path / "whole.topoi")
    monkeypatch.setattr("topoi.store.corpus_rows.BLOCK", 100)
    monkeypatch.setattr("topoi.corpus.pieces.ranges.__defaults__", (100,))
    model.save(tmp_path / "parts.topoi")
    query = "SELECT * FROM document_token"
    frames = [topoi.open_store(tmp_path / f"{name}.topoi").sql(query) for name in ("whole", "parts")]
    assert frames[0].equals(frames[1])
    assert len(frames[0]) == 3
    assert topoi.load(tmp_path / "parts.topoi").corpus_.fingerprint() == corpus.fingerprint()
