"""Every format, plain and gzipped, and the mapping of fields."""

import gzip
import json

import pandas as pd
import pytest

from topoi import Corpus, CorpusError, read_corpus

ROWS = [
    {
        "id": "a",
        "title": "One",
        "text": "red fish, blue\nfish",
        "authors": ["Ann", "Bob"],
        "year": 1999,
        "venue": "ACL",
    },
    {"id": "b", "title": "Two", "text": 'red "bird" é', "authors": ["Ann"], "year": 2001, "venue": "NIPS"},
    {"id": "c", "title": "Three", "text": "", "authors": [], "year": 2004, "venue": "ACL"},
]


def write(path, data):
    if path.suffix == ".gz":
        data = gzip.compress(data)
    path.write_bytes(data)
    return path


def jsonl(rows):
    return "\n".join(json.dumps(row) for row in rows).encode()


def table(separator):
    frame = pd.DataFrame([{**row, "authors": "; ".join(row["authors"])} for row in ROWS])
    return frame.to_csv(index=False, sep=separator).encode()


def parquet(tmp_path):
    pd.DataFrame(ROWS).to_parquet(tmp_path / "raw")
    return (tmp_path / "raw").read_bytes()


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet"])
def test_all_formats_give_the_same_corpus(tmp_path, format, ending):
    data = {
        "jsonl": lambda: jsonl(ROWS),
        "csv": lambda: table(","),
        "tsv": lambda: table("\t"),
        "parquet": lambda: parquet(tmp_path),
    }
    corpus = read_corpus(write(tmp_path / f"papers.{format}{ending}", data[format]()), min_df=1)
    assert corpus.texts == [row["text"] for row in ROWS]
    assert corpus[0].words == ["red", "fish", "blue", "fish"]
    assert corpus.author_lists() == [["Ann", "Bob"], ["Ann"], []]
    assert list(corpus.documents) == ["id", "title", "date", "year", "venue"]
    assert corpus.documents["id"].tolist() == ["a", "b", "c"]
    assert corpus.documents["year"].tolist() == [1999, 2001, 2004]
    assert corpus.report.n_read == 3 and corpus.report.n_empty_texts == 1 and corpus.report.n_without_authors == 1
    assert corpus.report.source == f"papers.{format}{ending}"


def test_fields_can_be_mapped(tmp_path):
    rows = [
        {"key": 7, "head": "H", "body": "red fish", "speaker": "Ann & Bob", "when": "2001-02-03T04:05:06Z", "x": 1},
        {"key": 8, "head": "I", "body": "red bird", "speaker": "Cy", "when": "", "y": [1]},
    ]
    path = write(tmp_path / "a.jsonl", jsonl(rows))
    names = {"text": ["head", "body"], "authors": "speaker", "date": "when", "title": "head", "id": "key"}
    corpus = read_corpus(path, **names, author_separator="&", min_df=1, max_df=1.0)
    assert corpus.texts == ["H\n\nred fish", "I\n\nred bird"]
    assert corpus.author_lists() == [["Ann", "Bob"], ["Cy"]]
    assert list(corpus.documents) == ["id", "title", "date", "year", "speaker", "x", "y"]
    assert corpus.documents["date"].tolist()[0] == pd.Timestamp("2001-02-03 04:05:06")
    assert corpus.documents["x"].tolist() == [1, pd.NA] and corpus.documents["y"].tolist() == [None, [1]]
    few = read_corpus(path, **names, metadata=["y"], min_df=1, max_df=1.0)
    assert list(few.documents) == ["id", "title", "date", "year", "speaker", "y"]


def test_several_author_fields(tmp_path):
    path = write(tmp_path / "a.jsonl", jsonl(ROWS))
    corpus = read_corpus(path, authors=["venue", "authors"], min_df=1)
    assert corpus.author_lists() == [["Ann", "Bob", "venue: ACL"], ["Ann", "venue: NIPS"], ["venue: ACL"]]
    venue = read_corpus(path, authors="venue", min_df=1)
    assert venue.authors.tolist() == ["ACL", "NIPS"]


def test_authors_as_mappings_and_default_names(tmp_path):
    rows = [{"text": "red", "author": [{"name": "Ann"}]}, {"text": "red", "author": "Bob;Cy", "date": 1999}]
    corpus = read_corpus(write(tmp_path / "a.jsonl", jsonl(rows)), max_df=1.0)
    assert corpus.author_lists() == [["Ann"], ["Bob", "Cy"]]
    assert corpus.documents["id"].tolist() == ["0", "1"]
    assert corpus.documents["year"].tolist()[1] == 1999


def test_folder(tmp_path):
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "b.txt").write_text("red fish", encoding="utf-8")
    write(tmp_path / "ann" / "a.txt.gz", b"blue fish\nblue")
    (tmp_path / "z.md").write_text("red bird", encoding="utf-8")
    (tmp_path / "ignored.pdf").write_bytes(b"%PDF")
    corpus = read_corpus(tmp_path, authors="folder", min_df=1)
    assert corpus.documents["id"].tolist() == ["ann/a", "ann/b", "z"]
    assert corpus.documents["title"].tolist() == ["a", "b", "z"]
    assert corpus.texts == ["blue fish\nblue", "red fish", "red bird"]
    assert corpus.author_lists() == [["ann"], ["ann"], []]
    assert corpus.report.notes == ["1 other files in the folder were not read"]


def test_the_format_can_be_named_and_encoding_too(tmp_path):
    path = write(tmp_path / "data", "text\ncafé red\ncafé blue\n".encode("latin-1"))
    corpus = read_corpus(path, format="csv", encoding="latin-1", max_df=1.0)
    assert corpus.words.tolist() == ["café"]


def test_long_fields_line_ends_and_byte_order_mark(tmp_path):
    text = "fish " * 40_000
    data = b"\xef\xbb\xbf" + f'id,text\r\n1,"{text}"\r\n2,"red, ""fish""\r\nbird"\r\n\r\n'.encode()
    corpus = read_corpus(write(tmp_path / "a.csv", data), min_df=1, max_df=1.0)
    assert corpus.n_docs == 2 and corpus.doc_lengths.tolist() == [40_000, 3]
    assert corpus.texts[1] == 'red, "fish"\r\nbird'
    lines = b"\xef\xbb\xbf" + b'{"text": "red"}\r\n\r\n{"text": "red"}\r\n'
    assert read_corpus(write(tmp_path / "a.jsonl", lines), max_df=1.0).n_docs == 2


def test_gzip_members_and_padding(tmp_path):
    data = gzip.compress(b'{"text": "red"}\n') + gzip.compress(b'{"text": "red"}\n') + b"\0" * 50
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(data)
    assert read_corpus(path, max_df=1.0).n_docs == 2
    plain = tmp_path / "packed.jsonl"
    plain.write_bytes(data)
    assert read_corpus(plain, max_df=1.0).n_docs == 2


def test_background_and_plain_reading_agree(tmp_path):
    rows = [{"text": f"alpha{d % 50} beta{d % 7} gamma " * 20} for d in range(2000)]
    path = write(tmp_path / "a.jsonl.gz", jsonl(rows))
    read = read_corpus(path)
    assert read.fingerprint() == Corpus.from_texts([row["text"] for row in rows]).fingerprint()
    plain = read_corpus(path, pattern=r"\b\w\w+\b")
    assert plain.fingerprint() == read.fingerprint()


def test_new_text_is_treated_as_the_file_was(tmp_path):
    path = write(tmp_path / "a.jsonl", jsonl([{"text": "Red FISH swims"}, {"text": "FISH swims up"}]))
    settings = {"lowercase": False, "stop_words": ["swims"], "max_df": 1.0, "min_df": 1}
    corpus = Corpus.from_bundle(*read_corpus(path, **settings).to_bundle())
    assert corpus.encode(["FISH fish swims Red"])[0].words == ["FISH", "Red"]


def test_settings_are_checked_before_reading(tmp_path):
    with pytest.raises(TypeError, match="min_fd"):
        read_corpus(tmp_path / "absent.jsonl", min_fd=3)
    with pytest.raises(CorpusError, match="on_error"):
        read_corpus(write(tmp_path / "a.jsonl", b"{}"), on_error="ignore")


def test_new_files_like_an_old_corpus(tmp_path):
    old = read_corpus(write(tmp_path / "old.jsonl", jsonl(ROWS)), min_df=1, stop_words=["blue"])
    path = write(tmp_path / "new.csv", b"text,authors,year\nBlue fish and red whales,Bob; Zoe,2020\n")
    new = read_corpus(path, like=old, new_authors="drop")
    assert new[0].words == ["fish", "red"] and new.author_lists() == [["Bob"]]
    assert new.report.n_unknown_tokens == 2 and new.documents["year"].tolist() == [2020]
    with pytest.raises(CorpusError, match="unknown authors: 'Zoe'"):
        read_corpus(path, like=old)
    with pytest.raises(CorpusError, match="leave out min_df"):
        read_corpus(path, like=old, min_df=1)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_csv_whose_first_row_has_no_comma_may_have_other_separators(mark, tmp_path) -> None:
    rows = ["text|authors|year", '"Blue fish, red whales"|"Bob; Zoe"|2020', "Red fish, blue whales|Ann|2021"]
    path = write(tmp_path / "excel.csv", ("\n" + "\n".join(rows).replace("|", mark)).encode())
    corpus = read_corpus(path, min_df=1, max_df=1.0)
    assert corpus.n_docs == 2 and corpus.author_lists()[0] == ["Bob", "Zoe"]
    assert corpus.documents["year"].tolist() == [2020, 2021]
