"""Arrays of JSON, a text per line, zip archives: read in pieces, bounded, faults tied to file and line."""

import gzip
import io
import json
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoi import CorpusError, load_dataset, read_corpus
from topoi.corpus import archive, lines

LOOSE = {"min_df": 1, "max_df": 1.0}
RECORDS = [{"text": "Red fish swim", "authors": ["Ann"]}, {"text": "Red birds sing", "authors": ["Bob"], "year": 1999}]


def write(path, data):
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("end", ["", ".gz"])
def test_array_of_objects(tmp_path, indent, end):
    data = json.dumps(RECORDS, indent=indent).encode()
    corpus = read_corpus(write(tmp_path / f"a.json{end}", gzip.compress(data) if end else data), **LOOSE)
    assert corpus.texts == [record["text"] for record in RECORDS]
    assert corpus.author_lists() == [["Ann"], ["Bob"]] and corpus.documents["year"].tolist()[1] == 1999


@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeff \n"])
def test_objects_one_a_line_may_be_called_json(tmp_path, mark):
    data = mark + "\n".join(json.dumps(record) for record in RECORDS)
    assert read_corpus(write(tmp_path / "a.json", data.encode()), on_error="skip", **LOOSE).n_docs >= 1
    assert read_corpus(write(tmp_path / "b.json", mark + json.dumps(RECORDS)), **LOOSE).n_docs == 2


@pytest.mark.parametrize(
    ("data", "line", "message", "kept"),
    [
        ('[\n{"text": "red"},\n{"text": "fish"\n', 4, "delimiter", 1),
        ('[\n{"text": "red"},\n{"text": nul}\n]', 3, "Expecting value", 1),
        ('[{"text": "red"}', 1, "the file ends too early where ',' or ']'", 1),
        ('[{"text": "red"}\n{"text": "fish"}]', 2, "'{' stands where ',' or ']'", 1),
        ('[{"text": "red"}]\n\nmore', 3, "after the end of the array", 1),
        ('[{"text": "red"},\n"fish", 7]', 2, "found str", 1),
        ('[{"text": "red"},\n{"body": "fish"}]', 2, "no field 'text'", 1),
        ('[{"text": "red"},\n' + "[" * 100_000, 2, "broken JSON", 1),
        ('[{"text": "red"},\n{"text": "a", "n": ' + "1" * 5000 + "}]", 2, "broken JSON", 1),
        (b'[{"text": "red"},\n{"text": "caf\xe9"}]', 2, "not utf-8", 0),
        ('[{"text": "red"}, ]', 1, "Expecting value", 1),
    ],
)
def test_broken_arrays(tmp_path, data, line, message, kept):
    path = write(tmp_path / "bad.json", data)
    with pytest.raises(CorpusError, match=message) as caught:
        read_corpus(path, **LOOSE)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    if kept:
        corpus = read_corpus(path, on_error="skip", **LOOSE)
        assert corpus.n_docs == kept and corpus.report.n_skipped >= 1


def test_empty_array(tmp_path):
    with pytest.raises(CorpusError, match="no documents"):
        read_corpus(write(tmp_path / "a.json", " [ ] "))


def test_an_object_over_many_lines_gets_advice(tmp_path):
    with pytest.raises(CorpusError, match="one object a line, or an array of objects"):
        read_corpus(write(tmp_path / "a.json", '{\n"data": []\n}'))
    with pytest.raises(CorpusError, match='read with format="json"'):
        read_corpus(write(tmp_path / "a.jsonl", json.dumps(RECORDS, indent=1)))
    assert read_corpus(tmp_path / "a.jsonl", format="json", **LOOSE).n_docs == 2


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({"text": st.text(max_size=20), "x": values}), min_size=1, max_size=6),
    st.integers(1, 40),
    st.sampled_from([None, 0, 3]),
    st.booleans(),
)
def test_arrays_in_pieces_of_any_size_are_what_json_reads(tmp_path_factory, records, piece, indent, plain):
    from topoi.corpus import jsonl
    from topoi.corpus.records import FieldMap, RecordTable

    path = write(tmp_path_factory.mktemp("json") / "a.json", json.dumps(records, indent=indent, ensure_ascii=plain))
    table = RecordTable(FieldMap(metadata=[]), path)
    found = []
    table.add = lambda record, line: found.append((record, line))  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_CHUNK", piece)
        patch.setattr(jsonl, "_CHARACTERS", 1)
        jsonl.read_json(lines.LineReader(path, table.problem), table)
    assert [record for record, _ in found] == json.loads(path.read_text(encoding="utf-8"))
    if indent == 0:
        assert [line for _, line in found][0] == 2 and sorted(line for _, line in found) == [line for _, line in found]


def test_an_array_is_not_read_as_a_whole(tmp_path, monkeypatch):
    from topoi.corpus import jsonl

    most = 0
    read = jsonl._Array._read

    def watched(self, wanted):
        nonlocal most
        read(self, wanted)
        most = max(most, len(self._text))

    monkeypatch.setattr(jsonl._Array, "_read", watched)
    record = json.dumps({"text": "red fish " * 20})
    path = write(tmp_path / "long.json", "[" + ",\n".join([record] * 5000) + "]")
    assert read_corpus(path, **LOOSE).n_docs == 5000
    assert most < 300_000 < path.stat().st_size / 3


def test_a_record_beyond_the_bound_is_refused(tmp_path):
    path = write(tmp_path / "a.json", '[{"text": "red"},\n{"text": "' + "x " * 200_000 + '"}]')
    with pytest.raises(CorpusError, match="longer than 100,000 bytes; allow more with max_line_bytes"):
        read_corpus(path, max_line_bytes=100_000)
    assert read_corpus(path, **LOOSE).n_docs == 2


def test_text_file_with_a_document_per_line(tmp_path):
    data = "Red fish swim\r\n\n  \nRed birds sing\nFish sing"
    for path in (
        write(tmp_path / "a.txt", data),
        write(tmp_path / "b.txt.gz", gzip.compress(data.encode())),
        write(tmp_path / "c.odd", data),
    ):
        corpus = read_corpus(path, format="lines" if path.suffix == ".odd" else None, **LOOSE)
        assert corpus.texts == ["Red fish swim", "Red birds sing", "Fish sing"]
        assert "every line is a document; 2 empty lines were passed over" in str(corpus.report)
    with pytest.raises(CorpusError, match=r"bad.txt, line 2: not utf-8"):
        read_corpus(write(tmp_path / "bad.txt", b"red\ncaf\xe9\n"))


ONE = {
    "papers.jsonl": "\n".join(map(json.dumps, RECORDS)),
    "papers.json": json.dumps(RECORDS),
    "papers.csv": "text,authors\nRed fish swim,Ann\nRed birds sing,Bob\n",
    "data/papers.jsonl.gz": gzip.compress("\n".join(map(json.dumps, RECORDS)).encode()),
    "papers.txt": "Red fish swim\nRed birds sing\n",
}


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archive_of_one_table(tmp_path, name, method):
    beside = {"README.md": "what it is", "__MACOSX/._x": "junk", ".DS_Store": "junk", "folder/": ""}
    corpus = read_corpus(zipped(tmp_path / "a.zip", {name: ONE[name], **beside}, method), **LOOSE)
    assert corpus.texts == [record["text"] for record in RECORDS]
    assert "1 other files in the archive were not read" in str(corpus.report)


def test_archive_with_parquet(tmp_path):
    import pandas as pd

    buffer = io.BytesIO()
    pd.DataFrame(RECORDS).to_parquet(buffer)
    assert read_corpus(zipped(tmp_path / "a.zip", {"a.parquet": buffer.getvalue()}), **LOOSE).n_docs == 2


def test_archive_of_text_files(tmp_path):
    texts = {"Ann/fish.txt": "Red fish\nswim", "Bob/birds.md": "Red birds sing", "zoo.txt": "Fish sing"}
    corpus = read_corpus(zipped(tmp_path / "a.zip", texts), authors="folder", **LOOSE)
    folder = tmp_path / "a"
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    plain = read_corpus(folder, authors="folder", **LOOSE)
    assert corpus.texts == plain.texts and corpus.author_lists() == plain.author_lists() == [["Ann"], ["Bob"], []]
    assert corpus.documents["id"].tolist() == plain.documents["id"].tolist()


def test_names_that_lead_elsewhere_stay_names(tmp_path):
    outside = tmp_path / "inner"
    outside.mkdir()
    texts = {"../../evil.txt": "Red fish", "/etc/evil2.txt": "Red birds", "..\\evil3.txt": "Fish sing"}
    corpus = read_corpus(zipped(outside / "a.zip", texts), **LOOSE)
    assert sorted(corpus.documents["id"]) == ["etc/evil2", "evil", "evil3"]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.zip"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a.csv": "text\na\n", "b.csv": "text\na\n"}, r"2 tables in the archive \(a.csv, b.csv\)"),
        ({"a.csv": "text\na\n", "b.txt": "red"}, r"a table \(a.csv\) and 1 text files"),
        ({"a.pdf": "x", "inner.zip": "x"}, "neither a table nor text files"),
        ({}, "neither a table nor text files"),
        ({"a.jsonl": '{"text": "red"}\n{"text": '}, r"a.zip/a.jsonl, line 2: broken JSON"),
        ({"a.csv": ""}, r"a.zip/a.csv, line 1: the file is empty"),
    ],
)
def test_archives_that_could_mean_anything(tmp_path, members, message):
    with pytest.raises(CorpusError, match=message):
        read_corpus(zipped(tmp_path / "a.zip", members), **LOOSE)


def test_other_ways_of_packing_are_refused(tmp_path):
    path = zipped(tmp_path / "a.zip", {"a.jsonl": '{"text": "red"}'}, zipfile.ZIP_LZMA)
    with pytest.raises(CorpusError, match="not packed by deflate"):
        read_corpus(path)
    data = bytearray(zipped(tmp_path / "b.zip", {"a.jsonl": '{"text": "red"}'}).read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # "encrypted", says the directory
    with pytest.raises(CorpusError, match="a.jsonl is encrypted"):
        read_corpus(write(tmp_path / "c.zip", bytes(data)))


def test_bombs_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "BOMB_BYTES", 1_000_000)
    line = json.dumps({"text": "a" * 1000}) + "\n"
    with pytest.raises(CorpusError, match="200-fold"):
        read_corpus(zipped(tmp_path / "bomb.zip", {"a.jsonl": line * 5000}), **LOOSE)
    # Files that share their bytes: each is small, all of them are not.
    texts = {f"{n}.txt": "red fish " * 20_000 for n in range(20)}
    with pytest.raises(CorpusError, match="200-fold"):
        read_corpus(zipped(tmp_path / "many.zip", texts), **LOOSE)


def test_a_directory_that_claims_too_much_is_refused(tmp_path):
    data = bytearray(zipped(tmp_path / "a.zip", {"a.jsonl": '{"text": "red"}'}).read_bytes())
    end = data.index(b"PK\x05\x06")
    data[end + 12 : end + 16] = struct.pack("<I", 1 << 30)
    with pytest.raises(CorpusError, match="a zip archive, or a damaged one"):
        read_corpus(write(tmp_path / "b.zip", bytes(data)))
    with pytest.raises(zipfile.BadZipFile, match="list of files"):
        archive._Bounded(open(tmp_path / "b.zip", "rb", buffering=0)).read(1 << 30)


@pytest.mark.filterwarnings("ignore")
def test_damaged_archives_are_corpus_errors(tmp_path):
    members = {"a.txt": "red fish\nswim " * 30, "b/c.txt": "birds sing"}
    whole = zipped(tmp_path / "a.zip", members).read_bytes()
    random = np.random.default_rng(0)
    n_refused = 0
    for _ in range(150):
        data = bytearray(whole[: random.integers(len(whole))] if random.random() < 0.2 else whole)
        for _ in range(int(random.integers(1, 5)) if data else 0):
            data[random.integers(len(data))] = random.integers(256)
        path = write(tmp_path / "b.zip", bytes(data))
        try:
            read_corpus(path, **LOOSE)
        except CorpusError as error:
            n_refused += 1
            assert "b.zip" in str(error) or "no words" in str(error)
    assert n_refused > 25


def test_a_readme_is_no_dataset(tmp_path, monkeypatch):
    write(tmp_path / "papers.txt", "Red fish\nRed birds\n")
    write(tmp_path / "README.txt", "what lies here")
    monkeypatch.setenv("TOPOI_DATA", str(tmp_path))
    assert load_dataset("papers", **LOOSE).n_docs == 2
    with pytest.raises(KeyError):
        load_dataset("README")


def test_a_number_in_an_array_does_not_end_with_a_piece(tmp_path, monkeypatch):
    from topoi.corpus import jsonl

    monkeypatch.setattr(lines, "_CHUNK", 3)
    monkeypatch.setattr(jsonl, "_CHARACTERS", 1)
    path = write(tmp_path / "a.json", '[123456, {"text": "red"}, -1.5e10]')
    corpus = read_corpus(path, on_error="skip", **LOOSE)
    assert corpus.texts == ["red"] and corpus.report.n_skipped == 2
