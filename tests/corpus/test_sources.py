"""Tables and columns of other libraries: the same corpus as from pandas, or an error in words."""

import datetime
import subprocess
import sys

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from topoi import Corpus, CorpusError, read_corpus

COLUMNS = {
    "text": ["Red fish swim", "Red birds sing", None, "Fish sing"],
    "authors": [["Ann", "Bob"], ["Ann"], None, ["Cy"]],
    "date": [datetime.date(1999, 5, 1), datetime.date(2004, 7, 8), None, datetime.date(2001, 1, 1)],
    "title": ["On fish", "On birds", None, "On both"],
    "score": [1.5, None, 2.5, 3.5],
    "n": [1, 2, 3, 4],
}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
LOOSE = {"min_df": 1, "max_df": 1.0}


class Dataset:
    """What a Hugging Face dataset looks like from outside: names of columns, and rows as mappings."""

    column_names = list(COLUMNS)

    def __iter__(self):
        return iter(RECORDS)

    def __len__(self):
        return len(RECORDS)

    def __getitem__(self, key):
        return COLUMNS[key] if isinstance(key, str) else RECORDS[key]


class DatasetDict(dict):
    @property
    def column_names(self):
        return {name: Dataset.column_names for name in self}


TABLES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, lazy": lambda: pl.DataFrame(COLUMNS).lazy(),
    "narwhals": lambda: narwhals.from_native(pl.DataFrame(COLUMNS)),
    "pyarrow table": lambda: pa.table(COLUMNS),
    "pyarrow batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "pyarrow reader": lambda: pa.table(COLUMNS).to_reader(),
    "mapping of columns": lambda: COLUMNS,
    "mapping of arrays": lambda: {name: pl.Series(values) for name, values in COLUMNS.items()},
    "hugging face": Dataset,
    "list": lambda: RECORDS,
    "generator": lambda: (dict(record) for record in RECORDS),
}


@pytest.fixture(scope="module")
def expected():
    return Corpus.from_dataframe(pd.DataFrame(COLUMNS), **LOOSE)


@pytest.mark.parametrize("make", [Corpus.from_dataframe, Corpus.from_records, read_corpus])
@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_every_table_gives_the_same_corpus(table, make, expected):
    corpus = make(table(), **LOOSE)
    assert corpus.fingerprint() == expected.fingerprint()
    assert corpus.texts == expected.texts and corpus.author_lists() == expected.author_lists()
    pd.testing.assert_frame_equal(corpus.documents, expected.documents)
    assert expected.author_lists()[0] == ["Ann", "Bob"] and expected.documents["year"].tolist()[:2] == [1999, 2004]


SERIES = {
    "pandas": lambda values: pd.Series(values),
    "polars": lambda values: pl.Series(values),
    "pyarrow array": lambda values: pa.array(values),
    "pyarrow chunks": lambda values: pa.chunked_array([values[:2], values[2:]]),
    "numpy": lambda values: np.array(values, object),
    "tuple": tuple,
}


@pytest.mark.parametrize("series", SERIES.values(), ids=list(SERIES))
def test_columns_of_every_library(series, expected):
    corpus = Corpus.from_texts(
        series(COLUMNS["text"]),
        authors=COLUMNS["authors"] if series is SERIES["numpy"] else series(COLUMNS["authors"]),
        titles=series(COLUMNS["title"]),
        dates=series(COLUMNS["date"]),
        metadata={"score": series(COLUMNS["score"]), "n": series(COLUMNS["n"])},
        **LOOSE,
    )
    assert corpus.fingerprint() == expected.fingerprint()
    pd.testing.assert_frame_equal(corpus.documents, expected.documents)
    again = corpus.encode(series(COLUMNS["text"]))
    assert again.tokens.tolist() == corpus.tokens.tolist()


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_metadata_in_a_frame_of_another_library(frame):
    corpus = Corpus.from_texts(["red fish", "red birds"], metadata=frame({"venue": ["ACL", "NIPS"]}), **LOOSE)
    assert corpus.documents["venue"].tolist() == ["ACL", "NIPS"]


def test_records_may_differ_in_their_fields():
    corpus = Corpus.from_records([{"text": "red fish", "venue": "ACL"}, {"text": "red birds", 7: "odd"}], **LOOSE)
    assert corpus.documents["venue"].tolist()[0] == "ACL" and corpus.documents["7"].tolist()[1] == "odd"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: pl.DataFrame({"body": ["a"]}), "no column 'text'; the columns are: body"),
        (lambda: pa.table({"body": ["a"]}), "no column 'text'"),
        (lambda: pd.DataFrame([["a", "b"]], columns=["text", "text"]), "'text' is there twice"),
        (lambda: pa.Table.from_arrays([pa.array(["a"])] * 2, names=["text", "text"]), "'text' is there twice"),
        (lambda: [{"text": "a"}, ["b"]], "record 2 is of type list"),
        (lambda: [{"text": "a"}, {"text": 3}], "the text is of type int"),
        (lambda: {"text": "one string"}, "column 'text' is of type str"),
        (lambda: {"text": ["a", "b"], "n": [1]}, "differ in length: 2 values of 'text', 1 values of 'n'"),
        (
            lambda: DatasetDict(train=Dataset(), test=Dataset()),
            r"several datasets \('train', 'test'\).*data\['train'\]",
        ),
        (lambda: 7, "of type int; give a table"),
        (lambda: b"text", "of type bytes; give a table"),
        (lambda: iter(()), "no documents"),
        (lambda: pl.DataFrame({"text": []}), "no documents"),
    ],
)
def test_what_is_no_table_of_documents(source, message):
    with pytest.raises(CorpusError, match=message):
        Corpus.from_records(source(), **LOOSE)


@pytest.mark.parametrize("table", ["pandas", "polars", "polars, lazy", "pyarrow table", "mapping of columns"])
def test_a_table_is_no_list_of_texts(table):
    with pytest.raises(CorpusError, match="texts is a table"):
        Corpus.from_texts(TABLES[table](), **LOOSE)


def test_like_and_skipping_work_from_memory(expected):
    records = [{"text": "fish"}, {"body": "no text"}, {"text": "unheard of"}]
    corpus = read_corpus(iter(records), like=expected, on_error="skip")
    assert corpus.n_docs == 2 and corpus.report.n_skipped == 1 and corpus.report.n_unknown_tokens == 1


def test_importing_topoi_imports_no_narwhals():
    code = "import sys, topoi; topoi.Corpus, topoi.read_corpus; sys.exit('narwhals' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
