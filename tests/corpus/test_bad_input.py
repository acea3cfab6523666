"""Bad files: an error with file and line, or a skipped record that is counted."""

import gzip
import json
import os
import tracemalloc
import zlib

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoi import Corpus, CorpusError, read_corpus

GOOD = b'{"id": "a", "text": "red fish"}'
ALSO = b'{"id": "z", "text": "red bird"}'

BAD_LINES = {
    "broken JSON": (b'{"text": "red', "broken JSON"),
    "an array": (b'[{"text": "red"}', "one object a line"),
    "not an object": (b'"red"', "expected a JSON object"),
    "deep nesting": (b"[" * 100_000, "broken JSON"),
    "huge number": (b'{"text": "a", "n": ' + b"1" * 5000 + b"}", "broken JSON"),
    "latin-1": (b'{"text": "caf\xe9"}', "not utf-8"),
    "no text": (b'{"body": "red", "id": 3}', "no field 'text'; the fields are: body, id"),
    "text is a list": (b'{"text": ["red"]}', "the text is of type list"),
    "duplicate id": (b'{"id": "a", "text": "blue"}', "the id 'a' was already used in line 1"),
    "bad author": (b'{"text": "red", "authors": [{"first": "A"}]}', "needs a 'name'"),
    "long line": (b'{"text": "' + b"x" * 300_000 + b'"}', "longer than 200,000 bytes"),
}


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_lines(tmp_path, name, ending):
    line, message = BAD_LINES[name]
    data = b"\n".join([GOOD, line, ALSO])
    path = tmp_path / f"papers.jsonl{ending}"
    path.write_bytes(gzip.compress(data) if ending else data)
    with pytest.raises(CorpusError, match=message) as caught:
        read_corpus(path, max_line_bytes=200_000, min_df=1)
    assert caught.value.path == str(path) and caught.value.line == 2
    assert str(caught.value).startswith(f"{path}, line 2: ")
    corpus = read_corpus(path, max_line_bytes=200_000, on_error="skip", min_df=1)
    assert corpus.documents["id"].tolist() == ["a", "z"]
    assert corpus.report.n_read == 2 and corpus.report.n_skipped == 1
    assert f"{path}, line 2: " in corpus.report.reasons[0]
    assert "1 record skipped" in str(corpus.report)


def test_long_last_line_and_line_after_a_long_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD + b"\n" + b"x" * 500_000 + b"\nbroken\n" + b"y" * 500_000)
    report = read_corpus(path, max_line_bytes=1000, on_error="skip", min_df=1, max_df=1.0).report
    assert report.n_skipped == 3
    assert [reason.split("line ")[1].split(":")[0] for reason in report.reasons] == ["2", "3", "4"]


def test_many_faults_are_all_counted_but_few_are_shown(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([GOOD, *[b"{"] * 40]))
    report = read_corpus(path, on_error="skip", min_df=1, max_df=1.0).report
    assert report.n_skipped == 40 and len(report.reasons) == 5
    assert "and 35 more" in str(report)


def test_dates(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "red", "date": 1999}\n{"text": "red", "date": "last week"}')
    with pytest.raises(CorpusError, match=r"line 2: the date 'last week' is neither"):
        read_corpus(path, max_df=1.0)
    corpus = read_corpus(path, max_df=1.0, on_error="skip")
    assert corpus.n_docs == 2 and corpus.report.n_bad_dates == 1 and corpus.report.n_skipped == 0


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.parquet", "a.mbox", "a.jsonl.gz"])
def test_empty_files(tmp_path, name):
    path = tmp_path / name
    path.touch()
    with pytest.raises(CorpusError, match="the file is empty") as caught:
        read_corpus(path)
    assert caught.value.path == str(path)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(b""))
        with pytest.raises(CorpusError, match="the file is empty"):
            read_corpus(path)


def test_files_without_documents(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text\n")
    with pytest.raises(CorpusError, match="no documents"):
        read_corpus(path)
    lines = tmp_path / "a.jsonl"
    lines.write_text("{\n{\n")
    with pytest.raises(CorpusError, match=r"no documents \(2 skipped; .*line 1"):
        read_corpus(lines, on_error="skip")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CorpusError, match="no text files"):
        read_corpus(tmp_path / "folder")


def test_truncated_gzip(tmp_path):
    rows = [json.dumps({"id": d, "text": f"red fish {os.urandom(30).hex()}"}) for d in range(2000)]
    whole = gzip.compress("\n".join(rows).encode())
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match="truncated") as caught:
        read_corpus(path)
    assert 100 < caught.value.line < 1900
    corpus = read_corpus(path, on_error="skip", max_df=1.0)
    assert corpus.n_docs == caught.value.line - 1 and corpus.report.n_skipped == 1
    assert "truncated" in corpus.report.reasons[0]


def test_damaged_gzip(tmp_path):
    data = bytearray(gzip.compress(b"\n".join([GOOD] * 5)))
    data[-8] ^= 0xFF
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(bytes(data))
    with pytest.raises(CorpusError, match="damaged"):
        read_corpus(path, on_error="raise", id="text")
    path.write_bytes(b"not gzip at all")
    with pytest.raises(CorpusError, match="not gzip"):
        read_corpus(path)


def test_gzip_bomb_is_stopped_in_bounded_memory(tmp_path):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = b"0" * 1_000_000
    data = packer.compress(b'{"text": "') + b"".join(packer.compress(zeros) for _ in range(300)) + packer.flush()
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(data)
    tracemalloc.start()
    with pytest.raises(CorpusError, match="bytes|200-fold"):
        read_corpus(path)
    with pytest.raises(CorpusError, match="no documents.*grow more than 200-fold"):
        read_corpus(path, on_error="skip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150_000_000


def test_too_many_fields(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"text": "red", f"field {d}": 1}) for d in range(1100)))
    with pytest.raises(CorpusError, match="line 1001: more than 1000 different fields"):
        read_corpus(path)
    assert read_corpus(path, metadata=["field 3"], max_df=1.0).n_docs == 1100


def test_fields_that_nobody_has(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD)
    with pytest.raises(CorpusError, match="no record has the field 'speaker'; the fields are: id, text"):
        read_corpus(path, authors="speaker")


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"id,body\n1,red\n", 1, "no column 'text'; the columns are: id, body. Name the one with .* --text on"),
        (b"id,text\n1,red\n2,red,more\n", 3, "3 fields, but the header names 2"),
        (b'id,text\n1,"red\nfish"\n2\n', 4, "1 fields, but the header names 2"),
        (b'id,text\n1,"red\nfish"\n2,"red', 4, "not closed"),
        (b"id,text\n1,caf\xe9\n", 2, "not utf-8"),
        (b"id,text\n1,red\n1,fish\n", 3, "the id '1' was already used in line 2"),
        (b"text,text\n1,red\n", 1, "the column 'text' is there twice"),
        (b"id,text\n1,red\n2," + b"x" * 2000 + b"\n", 3, "longer than 1,000 bytes"),
    ],
)
def test_bad_tables(tmp_path, data, line, message):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=message) as caught:
        read_corpus(path, max_line_bytes=1000)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_bad_rows_can_be_skipped(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,red\n2,"x"y\n3,caf\xe9\n4\n5,red\n')
    corpus = read_corpus(path, on_error="skip", max_df=1.0)
    assert corpus.documents["id"].tolist() == ["1", "5"] and corpus.report.n_skipped == 3


def test_bad_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"body": ["red"]}).to_parquet(path)
    with pytest.raises(CorpusError, match="no column 'text'"):
        read_corpus(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CorpusError, match="damaged Parquet") as caught:
        read_corpus(path)
    assert caught.value.path == str(path)
    path.write_bytes(gzip.compress(b"PAR1" * 100)[:-9])
    with pytest.raises(CorpusError, match="truncated|damaged"):
        read_corpus(path)


def test_bad_text_file_in_a_folder(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"red fish\ncaf\xe9")
    (tmp_path / "b.txt").write_bytes(b"red fish")
    with pytest.raises(CorpusError, match="not utf-8") as caught:
        read_corpus(tmp_path)
    assert caught.value.path.endswith("a.txt") and caught.value.line == 2
    corpus = read_corpus(tmp_path, on_error="skip", min_df=1, max_df=1.0)
    assert corpus.n_docs == 1 and corpus.report.n_skipped == 1


def test_wrong_paths_and_formats(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        read_corpus(tmp_path / "absent.jsonl")
    odd = tmp_path / "a.docx"
    odd.write_bytes(b"x")
    with pytest.raises(CorpusError, match="unknown format 'a.docx'.*jsonl, json, csv"):
        read_corpus(odd)
    with pytest.raises(CorpusError, match="unknown format 'word'"):
        read_corpus(odd, format="word")
    with pytest.raises(CorpusError, match="but this is a folder"):
        read_corpus(tmp_path, format="csv")
    with pytest.raises(CorpusError, match="unknown encoding"):
        read_corpus(odd, format="csv", encoding="klingon")
    with pytest.raises(CorpusError, match="convert the file to UTF-8"):
        read_corpus(odd, format="csv", encoding="utf-16")


def test_control_characters_and_surrogates(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"id": "x\u0000", "text": "red \ud800 fish", "authors": ["A\u0000\u001b[31m"], "venue": "\udfff", "\ud800": 1}
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    corpus = read_corpus(path, min_df=1, max_df=1.0)
    assert corpus.texts == ["red \ufffd fish"] and corpus.report.n_replaced == 1
    assert corpus.authors.tolist() == ["A\x00\x1b[31m"] and corpus.documents["venue"].tolist() == ["\ufffd"]
    assert list(corpus.documents) == ["id", "venue", "\ufffd"]
    assert corpus.from_bundle(*corpus.to_bundle()).documents["id"].tolist() == ["x\x00"]


def test_field_names_in_messages_are_harmless(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"\x1b[31m\ud800": 1, "n" * 100: 2, **{f"f{i}": 0 for i in range(30)}}))
    with pytest.raises(CorpusError, match=r"\?\[31m\?, n{39}…, f0, .* and 12 more") as caught:
        read_corpus(path)
    assert str(caught.value).encode() and len(str(caught.value)) < 500


SEEDS = {
    "a.jsonl": b'{"id": "a", "text": "red fish", "authors": ["Ann", {"name": "B"}], "date": "2001-02-03", "n": [1]}\n'
    b'{"id": 3, "text": null, "year": 1999}\n{"text": "blue \\ud800", "authors": "x; y"}\n',
    "a.csv": b'id,text,authors,date\n1,"red ""fish""\nx",Ann; Bob,1999\n2,blue,,\n',
    "a.mbox": b"From a Mon Jan  1 10:00:00 2001\nFrom: Ann <a@b.c>\nSubject: =?utf-8?q?caf=C3=A9?=\n"
    b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=latin-1\n\nred\n--b--\n",
}
BITS = [b"\0", b'"', b"\n", b"{", b"]", b",", b"\xff", b"\\ud800", b"NaN", b"From ", b"=?x?b?", b"charset=", b"1e999"]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(SEEDS)),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 5), st.sampled_from(BITS)), min_size=1, max_size=5),
    st.booleans(),
)
def test_mangled_files_give_a_corpus_or_a_corpus_error(tmp_path_factory, name, edits, packed):
    data = bytearray(SEEDS[name])
    for at, drop, put in edits:
        data[at : at + drop] = put
    path = tmp_path_factory.mktemp("mangled") / name
    path.write_bytes(gzip.compress(data) if packed else data)
    for on_error in ("raise", "skip"):
        try:
            corpus = read_corpus(path, on_error=on_error, min_df=1, max_df=1.0)
        except CorpusError as error:
            assert str(path) in str(error) or "no words are left" in str(error)
            continue
        assert corpus.from_bundle(*corpus.to_bundle()).fingerprint() == corpus.fingerprint()
        assert len(corpus) == corpus.report.n_read > 0


def test_whole_numbers_beyond_all_floats_are_infinite():
    corpus = Corpus.from_tokens([["a"]] * 3, metadata={"x": [10**400, -(10**400), None], "y": [10**400, 1.5, 2]})
    assert corpus.documents["x"].tolist()[:2] == [float("inf"), -float("inf")]
    assert corpus.documents["y"].tolist() == [float("inf"), 1.5, 2.0]
