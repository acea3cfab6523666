"""Joining of corpora: numbers stay, texts are read alike, ids are looked after."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topoi
from topoi.corpus.joining import join_corpora
from topoi.errors import CorpusError

OLD = ["The paper sailed a ship", "the paper ploughs a field", "paper ship and field", "paper: ship, field"]


def old_corpus() -> topoi.Corpus:
    return topoi.Corpus.from_texts(
        OLD, authors=["Ann", "Bob", "Ann; Bob", None], titles=list("abcd"), dates=[1900, 1901, 1902, 1903], max_df=0.8
    )


def test_numbers_stay_and_new_ones_follow() -> None:
    old = old_corpus()
    new = topoi.Corpus.from_texts(
        ["a moon ship", "moon field, moon"],
        authors=["Cy", "Bob"],
        metadata={"venue": ["X", "Y"]},
        min_df=1,
        max_df=1.0,
    )
    whole = old.extended(new)
    assert whole.words.tolist() == [*old.words, "moon"] and whole.authors.tolist() == ["Ann", "Bob", "Cy"]
    assert np.array_equal(whole.tokens[: old.n_tokens], old.tokens)
    assert whole.author_lists()[-2:] == [["Cy"], ["Bob"]] and whole.author_lists()[:4] == old.author_lists()
    assert whole.documents["id"].tolist() == list("012345")
    assert whole.documents["year"].isna().tolist() == [False] * 4 + [True] * 2
    assert whole.documents["venue"].tolist()[-2:] == ["X", "Y"] and whole.documents["venue"].isna().sum() == 4
    assert whole.documents["title"].tolist()[:4] == list("abcd")
    for d in range(whole.n_docs):
        here = slice(whole.doc_start[d], whole.doc_start[d + 1])
        spans = zip(whole.token_start[here], whole.token_end[here], strict=True)
        words = [whole.texts[d][a:b].lower() for a, b in spans]
        assert words == whole.words[whole.tokens[here]].tolist()
    # The joined corpus is one like any other: saved, read again, cut.
    again = topoi.Corpus.from_bundle(*whole.to_bundle())
    assert again.fingerprint() == whole.fingerprint()
    assert whole.subset([5, 0]).texts == [new.texts[1], OLD[0]]
    assert "paper" not in whole.words


def test_words_that_were_too_common_stay_out() -> None:
    old = old_corpus()
    assert "paper" not in old.words
    # Both words are in all new documents; one of them was in all old ones.
    joined = join_corpora(old, topoi.Corpus.from_texts(["covid paper ship"] * 3, max_df=1.0))
    assert joined.added.words == ["covid"] and joined.added.n_left_out == 1 and joined.added.n_tokens_left_out == 3


def test_words_of_the_old_vocabulary_are_never_too_rare() -> None:
    """A small batch read with ``min_df`` of its own has lost words that are known; they are read again."""
    old = old_corpus()
    new = topoi.Corpus.from_texts(["ship lantern", "field lantern"], min_df=2, max_df=1.0)
    assert new.words.tolist() == ["lantern"]
    whole = old.extended(new)
    assert [whole.words[w] for w in whole.tokens[old.n_tokens :]] == ["ship", "lantern", "field", "lantern"]
    assert old.extended(new, min_df=None).words.tolist() == old.words.tolist()
    assert old.extended(new, min_df=3).n_words == old.n_words


def test_a_part_of_the_corpus_adds_no_words() -> None:
    whole = topoi.Corpus.from_texts([*OLD, "ship of the line", "a field of rye"], min_df=2)
    first, rest = whole.subset([0, 1, 2]), whole.subset([3, 4, 5])
    joined = join_corpora(first, rest)
    assert joined.added.words == [] and joined.corpus.fingerprint() == whole.fingerprint()


def test_ids() -> None:
    old = topoi.Corpus.from_tokens([["a"], ["b"]], ids=["x", "y"])
    new = topoi.Corpus.from_tokens([["a"], ["c"], ["a"]], ids=["y", "z", "w"])
    with pytest.raises(CorpusError, match="'y'"):
        old.extended(new)
    joined = join_corpora(old, new, min_df=1, known="skip")
    assert joined.corpus.documents["id"].tolist() == ["x", "y", "z", "w"] and joined.added.n_known == 1
    with pytest.raises(CorpusError, match="known is"):
        old.extended(new, known="maybe")
    with pytest.raises(CorpusError, match="min_df is"):
        old.extended(new, min_df=0)


def test_texts_are_left_out_if_the_new_documents_have_none() -> None:
    whole = old_corpus().extended(topoi.Corpus.from_tokens([["ship", "moon"]]), min_df=1)
    assert whole.texts is None and whole.token_start is None and whole.words[-1] == "moon"
    assert any("texts are left out" in note for note in whole.report.notes)


def test_a_corpus_on_disk_stays_there(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("".join(f'{{"text": "ship field number{d % 2}"}}\n' for d in range(6)))
    old = topoi.read_corpus(path, on_disk=tmp_path / "old.corpus", max_df=1.0)
    new = topoi.Corpus.from_texts(["moon ship", "moon"], min_df=1, max_df=1.0)
    whole = old.extended(old.extended(new).subset([6, 7]))
    assert whole.scratch.folder == old.scratch.folder and not isinstance(whole.texts, list)
    assert whole.texts[-2:] == ["moon ship", "moon"] and whole.subset([7, 0]).texts[0] == "moon"
    model = topoi.LDA(2, n_iter=4, random_state=0).fit(old).update(new, n_iter=2)
    assert model.corpus_.texts[6] == "moon ship" and model.corpus_.n_docs == 8
