"""A corpus on disk is the corpus in memory: same bits, same frame, and nothing half-written."""

from __future__ import annotations

import datetime
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi import CorpusError, StoreError
from topoi.corpus import folder_writer
from topoi.corpus.mapped import Scratch, is_mapped, release

WORDS = [f"w{n}x" for n in range(60)] + ["Café", "new", "york", "the", "and"]
ARRAYS = ("tokens", "doc_start", "token_start", "token_end", "doc_author", "doc_author_start")


def records(n: int = 80) -> list[dict]:
    """Records with authors, dates, missing fields, and metadata of many kinds."""
    rng = np.random.default_rng(0)
    found = []
    for d in range(n):
        words = rng.choice(WORDS, int(rng.integers(0, 25)), p=rng.dirichlet(np.ones(len(WORDS)) * 0.2)).tolist()
        record = {"text": " ".join([*words, "new york"] * (d % 7 != 3)), "venue": ["ACL", "NIPS"][d % 2], "pages": d}
        record["authors"] = [["Ann"], "Bob; Cy", [], ["Cy", {"name": "Zoë"}]][d % 4]
        record["year"] = [1999, None, 2004][d % 3]
        record["title"] = [f"On {d}", None][d % 2]
        record["score"] = [1.5, 2, None, 10**30][d % 4]
        if d > 30:
            record["late"] = [True, None, True][d % 3]
            record["links"] = [["a", 1], {"b": None}, "x"][d % 3]
        found.append(record)
    return found


def write(folder: Path, kind: str) -> Path:
    """The records as a file of the given kind."""
    path, rows = folder / f"papers.{kind}", records()
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif kind == "csv":
        frame = pd.DataFrame(rows).drop(columns=["authors", "links"]).assign(authors="Ann; Bob")
        frame.astype({"year": "Int64"}).to_csv(path, index=False)
    elif kind == "parquet":
        frame = pd.DataFrame({"text": [row["text"] for row in rows], "seen": pd.date_range("2001-01-01", periods=80)})
        frame.to_parquet(path)
    else:
        for d, row in enumerate(rows):
            (path / row["venue"]).mkdir(parents=True, exist_ok=True)
            (path / row["venue"] / f"{d}.txt").write_text(row["text"])
    return path


def same(stored: topoi.Corpus, expected: topoi.Corpus) -> None:
    """Everything of two corpora is the same."""
    for name in ARRAYS:
        one, other = getattr(stored, name), getattr(expected, name)
        np.testing.assert_array_equal(one, other, err_msg=name)
        assert one.dtype == other.dtype
    assert stored.vocabulary == expected.vocabulary
    assert stored.authors.tolist() == expected.authors.tolist()
    assert list(stored.texts) == list(expected.texts)
    pd.testing.assert_frame_equal(stored.documents, expected.documents)
    assert stored.report == expected.report
    assert stored.fingerprint() == expected.fingerprint()
    assert repr(stored) == repr(expected)


SETTINGS = [
    ("jsonl", {}),
    ("jsonl", {"authors": ["authors", "venue"], "metadata": ["pages"]}),
    ("jsonl", {"phrases": True, "phrase_min_count": 3, "max_words": 20}),
    ("jsonl", {"phrases": [("new", "york")], "min_df": 1, "stop_words": None}),
    ("jsonl", {"pattern": r"[a-z]+\d", "min_df": 0.05, "text": ["title", "text"]}),
    ("csv", {"date": "year", "authors": ["venue", "authors"]}),
    ("parquet", {}),
    ("texts", {"authors": "folder"}),
]


@pytest.mark.parametrize(("kind", "settings"), SETTINGS)
def test_reads_the_same(tmp_path, monkeypatch, kind, settings):
    """All formats, fields and rules of words, however small the blocks in which ids are replaced."""
    if kind != "parquet":
        monkeypatch.setattr(folder_writer, "_TOKENS_AT_ONCE", 7)
    path = write(tmp_path, kind)
    stored = topoi.read_corpus(path, on_disk=tmp_path / "it.corpus", **settings)
    expected = topoi.read_corpus(path, **settings)
    assert stored.n_tokens > 100
    same(stored, expected)
    assert is_mapped(stored.tokens) and is_mapped(stored.token_start) and not is_mapped(expected.tokens)
    same(topoi.open_corpus(tmp_path / "it.corpus", verify=True), expected)
    same(topoi.read_corpus(tmp_path / "it.corpus"), expected)
    rows = np.random.default_rng(1).permutation(expected.n_docs)[:33]
    same(stored.subset(rows), expected.subset(rows))
    for one, other in zip(stored.split(0.3, 5), expected.split(0.3, 5), strict=True):
        same(one, other)
        assert is_mapped(one.tokens) and isinstance(one._documents, pd.DataFrame)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([path.name, "it.corpus"])


def test_reads_metadata_and_texts_when_asked(tmp_path):
    """Opening and splitting read neither the frame nor a text."""
    stored = topoi.read_corpus(records(), on_disk=tmp_path / "it.corpus")
    train, _ = stored.split(0.3, 5)
    assert repr(stored) == repr(topoi.read_corpus(records())).replace(", 1999–2004", "")
    assert not isinstance(stored._documents, pd.DataFrame) and not isinstance(train._documents, pd.DataFrame)
    (tmp_path / "it.corpus" / "documents.jsonl").write_text("[]\n")
    with pytest.raises(CorpusError, match=r"documents.jsonl: damaged"):
        _ = train.documents


def test_metadata_in_memory_may_hold_dates(tmp_path):
    """Dates are dates, unless a column has other values, too."""
    day = datetime.datetime(2001, 2, 3, 4, 5)
    rows = [{"day": day, "mixed": "soon" if d == 3 else day, "none": None, "text": row["text"], "title": float("nan")}
            for d, row in enumerate(records(9))]  # fmt: skip
    same(topoi.read_corpus(rows, on_disk=tmp_path / "it.corpus"), topoi.read_corpus(rows))


def test_bad_records(tmp_path):
    """Faults are raised, or skipped and counted, as in memory; a failed run leaves nothing."""
    path = tmp_path / "bad.jsonl"
    rows = [json.dumps(row) for row in records(20)]
    path.write_text("\n".join([*rows[:5], "{broken", *rows[5:], '{"text": "x", "id": "3"}', '{"no": 1}']))
    with pytest.raises(CorpusError, match="line 6"):
        topoi.read_corpus(path, on_disk=tmp_path / "it.corpus")
    with pytest.raises(CorpusError, match="no words are left"):
        topoi.read_corpus(path, on_disk=tmp_path / "it.corpus", on_error="skip", min_df=1000)
    assert [each.name for each in tmp_path.iterdir()] == ["bad.jsonl"]
    same(
        topoi.read_corpus(path, on_disk=tmp_path / "it.corpus", on_error="skip", date="year"),
        topoi.read_corpus(path, on_error="skip", date="year"),
    )


def test_never_replaces_a_folder(tmp_path):
    """Neither a corpus nor anything else is overwritten, and settings of reading are refused afterwards."""
    folder = tmp_path / "it.corpus"
    corpus = topoi.read_corpus(records(), on_disk=folder)
    with pytest.raises(CorpusError, match="a corpus already"):
        topoi.read_corpus(records(), on_disk=folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(CorpusError, match="exists already"):
        topoi.read_corpus(records(), on_disk=tmp_path / "mine")
    with pytest.raises(CorpusError, match="encoded already.*min_df"):
        topoi.read_corpus(folder, min_df=3)
    with pytest.raises(CorpusError, match="encoded already"):
        topoi.read_corpus(folder, text="abstract")
    with pytest.raises(CorpusError, match="words of its own"):
        topoi.read_corpus(folder, like=corpus)
    with pytest.raises(CorpusError, match="exists already"):
        topoi.read_corpus(records(), on_disk=tmp_path / "mine", replace=True)
    assert topoi.read_corpus(records(50), on_disk=folder, replace=True).n_docs == 50
    assert corpus.n_docs == 80 and len(set(corpus.texts)) > 50  # the old files live as long as they are open
    with pytest.raises(CorpusError, match="leave out on_disk"):
        topoi.read_corpus(records(), like=corpus, on_disk=tmp_path / "other")
    with pytest.raises(CorpusError, match="not an encoded corpus"):
        topoi.open_corpus(tmp_path)
    with pytest.raises(CorpusError, match="no folder"):
        topoi.open_corpus(folder, scratch=tmp_path / "nowhere")


def damage(folder: Path, name: str, at: int, values: np.ndarray) -> None:
    """Overwrite a few bytes of a file."""
    with (folder / name).open("r+b") as file:
        file.seek(at)
        file.write(values.tobytes())


@pytest.mark.parametrize(
    ("name", "at", "values", "message"),
    [
        ("tokens.i32", 40, np.array([2**30], np.int32), "not one of"),
        ("tokens.i32", 40, np.array([-1], np.int32), "not one of"),
        ("doc_start.i64", 16, np.array([2**40]), "do not go up"),
        ("doc_start.i64", 0, np.array([1]), "do not begin with 0"),
        ("doc_author.i32", 0, np.array([99], np.int32), "not one of"),
        ("texts_end.i64", 8, np.array([-5]), "do not go up"),
        ("words_end.i64", 0, np.array([10**9]), "do not fit"),
        ("words.utf8", 0, np.array([255], np.uint8), "damaged"),
        ("meta.json", 40, np.array([0], np.uint8), "damaged"),
    ],
)
def test_refuses_a_strangers_folder(tmp_path, name, at, values, message):
    """Ids and offsets out of bounds never reach a kernel."""
    folder = tmp_path / "it.corpus"
    topoi.read_corpus(records(), on_disk=folder)
    damage(folder, name, at, values)
    with pytest.raises(CorpusError, match=message):
        topoi.open_corpus(folder)


def test_refuses_other_sizes_and_kinds(tmp_path):
    """Files that are cut, missing or links; a newer schema; contents that the digest does not know."""
    whole = tmp_path / "it.corpus"
    topoi.read_corpus(records(), on_disk=whole)
    for number, name in enumerate(["tokens.i32", "token_end.i32", "doc_start.i64", "texts.utf8", "authors_end.i64"]):
        folder = tmp_path / f"{number}.corpus"
        shutil.copytree(whole, folder)
        os.truncate(folder / name, (folder / name).stat().st_size - 1)
        with pytest.raises(CorpusError, match="were promised"):
            topoi.open_corpus(folder)
        (folder / name).unlink()
        (folder / name).symlink_to(whole / name)
        with pytest.raises(CorpusError, match="not a plain file"):
            topoi.open_corpus(folder)
    meta = json.loads((whole / "meta.json").read_text())
    (whole / "meta.json").write_text(json.dumps(meta | {"schema": 2}))
    with pytest.raises(CorpusError, match="schema 2"):
        topoi.open_corpus(whole)
    (whole / "meta.json").write_text(json.dumps(meta | {"sizes": {}}))
    with pytest.raises(CorpusError, match="missing"):
        topoi.open_corpus(whole)
    (whole / "meta.json").write_text(json.dumps(meta))
    damage(whole, "tokens.i32", 0, topoi.open_corpus(whole).tokens[1:2] * 0 + 1)
    topoi.open_corpus(whole)
    with pytest.raises(CorpusError, match="digest"):
        topoi.open_corpus(whole, verify=True)


ENCODE = """
import sys, time, topoi
def slow():
    for d in range(10**9):
        yield {"text": "red fish and blue fish " * 50}
        if d == 2000:
            print("under way", flush=True)
topoi.read_corpus(slow(), on_disk=sys.argv[1])
"""


def test_killed_in_the_middle(tmp_path):
    """There is no folder afterwards, and the next writer removes what was left beside it, but not of a live one."""
    child = subprocess.Popen([sys.executable, "-c", ENCODE, str(tmp_path / "it.corpus")], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None and child.stdout.readline() == b"under way\n"
        topoi.read_corpus(records(), on_disk=tmp_path / "it.corpus")
        assert len([each for each in tmp_path.iterdir() if each.name.endswith(".part")]) == 1
        shutil.rmtree(tmp_path / "it.corpus")
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert not (tmp_path / "it.corpus").exists()
    topoi.read_corpus(records(), on_disk=tmp_path / "it.corpus")
    assert [each.name for each in tmp_path.iterdir()] == ["it.corpus"]


def test_full_disk(tmp_path, monkeypatch):
    """One error that says what and where, and nothing left."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"cannot write .*it.corpus: File too large"):
            topoi.read_corpus(records(2000), on_disk=tmp_path / "it.corpus")
        with pytest.raises(StoreError, match=r"cannot make a file of 4 MB in .*: File too large; make room"):
            Scratch(tmp_path).zeros(10**6, np.int32)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(tmp_path.iterdir()) == []


def test_scratch_leaves_nothing_and_release_loses_nothing(tmp_path):
    """Files without a name; pages that are given back keep what was written, in any part of an array."""
    made = Scratch(tmp_path).zeros(100_000, np.int32)
    assert list(tmp_path.iterdir()) == [] and is_mapped(made) and is_mapped(made[5:])
    made[:] = np.arange(100_000)
    release(made[10:20_000], (made[50_000:], "anything"), made[:0], np.arange(3))
    np.testing.assert_array_equal(made, np.arange(100_000))
    resident = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else None
    if resident is not None:
        large = Scratch(tmp_path).zeros(50_000_000, np.uint8)
        large[:] = 1
        full = int(Path("/proc/self/statm").read_text().split()[1])
        release(large)
        assert int(Path("/proc/self/statm").read_text().split()[1]) < full - 10_000
