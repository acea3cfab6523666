"""``topoi encode``: documents on disk, and models fitted to them from there."""

from __future__ import annotations

import shutil
from pathlib import Path

import topoi as library

from .conftest import FIT


def test_encodes_and_fits_what_fit_reads(topoi, papers: Path, tmp_path: Path, monkeypatch, model_file: Path) -> None:
    monkeypatch.chdir(tmp_path)
    run = topoi("encode", papers)
    assert run.code == 0 and "48 documents" in run.err and "next: topoi fit papers.corpus" in run.err
    assert library.open_corpus("papers.corpus").fingerprint() == library.read_corpus(papers).fingerprint()
    assert topoi("fit", "papers.corpus", *FIT).code == 0
    one, other = library.load("papers.topoi"), library.load(model_file)
    assert (one.topic_word_ == other.topic_word_).all() and list(one.corpus_.texts) == list(other.corpus_.texts)
    assert topoi("fit", "papers.corpus", "--model", "author", "-q", "-o", "author.topoi").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["author.topoi", "papers.corpus", "papers.topoi"]


def test_options_of_reading(topoi, papers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "few.corpus"
    assert topoi("encode", papers, "-o", folder, "--max-words", 7, "--id", "title", "-q").err == ""
    corpus = library.open_corpus(folder)
    assert corpus.n_words == 7 and corpus.documents["id"].iloc[0] == "Paper 0"
    refused = topoi("fit", folder, "--min-df", 3)
    assert refused.code == 1 and "encoded already" in refused.err and "min_df" in refused.err


def test_replaces_only_what_it_wrote(topoi, papers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it.corpus"
    assert topoi("encode", papers, "-o", folder, "-q").code == 0
    again = topoi("encode", papers, "-o", folder)
    assert again.code == 1 and "--force" in again.err
    assert topoi("encode", papers, "-o", folder, "--force", "-q").code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    other = topoi("encode", papers, "-o", tmp_path / "mine", "--force")
    assert other.code == 1 and "exists already" in other.err and (tmp_path / "mine" / "letter.txt").exists()
    assert topoi("encode", tmp_path / "nothing.jsonl").err == f"topoi: no such file: {tmp_path / 'nothing.jsonl'}\n"
    shutil.rmtree(folder)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(papers.read_text() + "{broken")
    assert topoi("encode", damaged, "-o", folder).code == 1 and not folder.exists()
