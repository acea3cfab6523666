"""gensim's dictionary and bags have our numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.corpora import Dictionary, MmCorpus

import topoi
from exchange.samples import corpus
from topoi.errors import CorpusError, ModelError
from topoi.exchange import to_gensim_corpus, to_gensim_dictionary
from topoi.exchange.files import write_gensim


@pytest.fixture(params=["corpus", "model", "view"])
def source(request: pytest.FixtureRequest, models: dict[str, Any], stored: Path) -> Any:
    made: dict[str, Callable[[], Any]] = {
        "corpus": corpus,
        "model": lambda: models["LDA"],
        "view": lambda: topoi.view(stored, "LDA"),
    }
    return made[request.param]()


def lists() -> list[list[str]]:
    documents = corpus()
    return [[str(w) for w in documents.words[documents.tokens[a:b]]] for a, b in bounds(documents)]


def bounds(documents: topoi.Corpus) -> list[tuple[int, int]]:
    return list(zip(documents.doc_start[:-1], documents.doc_start[1:], strict=True))


def test_dictionary_has_our_numbers_and_gensims_frequencies(source: Any) -> None:
    found, documents = to_gensim_dictionary(source), corpus()
    assert isinstance(found, Dictionary)
    assert found.token2id == {word: w for w, word in enumerate(documents.words)}
    assert all(found[w] == word for w, word in enumerate(documents.words))
    theirs = Dictionary(lists())
    for of in ("num_docs", "num_pos", "num_nnz"):
        assert getattr(found, of) == getattr(theirs, of), of
    for of in ("dfs", "cfs"):
        ours, told = getattr(found, of), getattr(theirs, of)
        assert {found[w]: n for w, n in ours.items()} == {theirs[w]: n for w, n in told.items()}, of


def test_bags_are_what_the_dictionary_makes(source: Any) -> None:
    dictionary = to_gensim_dictionary(source)
    assert to_gensim_corpus(source) == [dictionary.doc2bow(words) for words in lists()]


def test_corpus_comes_back(source: Any) -> None:
    back = topoi.Corpus.from_gensim(to_gensim_corpus(source), to_gensim_dictionary(source))
    assert back.words.tolist() == corpus().words.tolist()
    assert (back.to_matrix() != corpus().to_matrix()).nnz == 0


def test_files_are_read_by_gensim(source: Any, tmp_path: Path) -> None:
    if isinstance(source, topoi.Corpus):
        return
    assert write_gensim(source, tmp_path / "out") == ["dictionary.txt", "corpus.mm"]
    read = Dictionary.load_from_text(str(tmp_path / "out" / "dictionary.txt"))
    ours = to_gensim_dictionary(source)
    assert read.token2id == ours.token2id and read.num_docs == ours.num_docs
    assert {w: n for w, n in read.dfs.items() if n} == ours.dfs
    bags = [[(w, int(n)) for w, n in bag] for bag in MmCorpus(str(tmp_path / "out" / "corpus.mm"))]
    assert bags == to_gensim_corpus(source)


def test_word_with_a_tab_is_refused(tmp_path: Path) -> None:
    model = topoi.LDA(2, n_iter=1, random_state=0).fit(topoi.Corpus.from_tokens([["a\tb", "c"]]))
    with pytest.raises(CorpusError, match="has a tab"):
        write_gensim(model, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_without_gensim_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.corpora", None)
    with pytest.raises(CorpusError, match="pip install gensim"):
        to_gensim_dictionary(corpus())
    assert len(to_gensim_corpus(corpus())) == 24


def test_anything_else_is_refused() -> None:
    for function in (to_gensim_dictionary, to_gensim_corpus):
        with pytest.raises(ModelError, match="this is ndarray; pass a topoi.Corpus"):
            function(np.zeros(3))
