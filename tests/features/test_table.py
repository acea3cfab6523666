"""Metadata as typed columns."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.errors import ModelError
from topoi.models.features.table import FeatureTable


def corpus_with(**metadata) -> topoi.Corpus:
    n = len(next(iter(metadata.values())))
    return topoi.Corpus.from_tokens([["a"]] * n, metadata=metadata, ids=[f"d{i}" for i in range(n)])


def squared_distances(rows: np.ndarray) -> np.ndarray:
    return ((rows[:, None] - rows[None]) ** 2).sum(axis=-1)


def test_kinds_are_recognised() -> None:
    corpus = topoi.Corpus.from_tokens(
        [["a"]] * 3,
        authors=[["Ann", "Bob"], ["Ann"], None],
        dates=[1999, 2000, 2001],
        ids=["x", "y", "z"],
        metadata={"venue": ["ACL", "NIPS", "ACL"], "spoken": [True, False, True], "cites": [["y"], [], ["x", "y"]]},
    )
    table = FeatureTable.learn(corpus, ["year", "date", "venue", "spoken", "authors", "cites"])
    assert [column.kind for column in table.columns] == ["number", "number", "names", "names", "names", "links"]
    assert [getattr(column, "date", None) for column in table.columns[:2]] == [False, True]
    assert table.coordinates.shape == (3, 1 + 1 + 4 + 4 + 4 + 3)


def test_a_kind_may_be_named() -> None:
    corpus = corpus_with(decade=[1990, 2000, 1990], day=["1999-07-02", None, "2001"])
    table = FeatureTable.learn(corpus, {"decade": "category", "day": "date"})
    distances = squared_distances(table.coordinates[:, table.block("decade")])
    assert distances == pytest.approx(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    assert table.coordinates[:, table.block("day")].ravel() == pytest.approx([1999.5, 2000.25, 2001.0], abs=0.01)


def test_missing_numbers_are_the_mean_and_new_ones_keep_their_unit() -> None:
    table = FeatureTable.learn(corpus_with(size=[1.0, None, 5.0]), ["size"])
    assert table.coordinates.ravel().tolist() == [1.0, 3.0, 5.0]
    assert table.encode(pd.DataFrame({"size": [None, 9.0]})).ravel().tolist() == [3.0, 9.0]
    assert table.unknown({"size": [None, 9.0]}) == {"size": 1}


def test_names_unknown_and_missing_are_as_far_as_can_be() -> None:
    corpus = topoi.Corpus.from_tokens([["a"]] * 3, authors=[["Ann"], ["Bob"], ["Ann", "Bob"]])
    table = FeatureTable.learn(corpus, ["authors"])
    new = table.encode({"authors": [["Ann"], ["Zoe"], [], ["Ann", "Zoe"], ["Zoe", "Yan"], ["Ann", "Zoe", "Yan"]]})
    distances = squared_distances(np.vstack((table.coordinates, new)))
    shared = 1 - 1 / np.sqrt(2)
    assert distances[0, :3] == pytest.approx([0, 1, shared])
    assert distances[0, 3:] == pytest.approx([0, 1, 1, shared, 1, 1 - 1 / np.sqrt(3)])
    assert distances[4, 5] == pytest.approx(1)
    assert table.unknown({"authors": [["Ann"], ["Zoe"], None]}) == {"authors": 2}


def test_links_are_shortest_paths_both_ways() -> None:
    table = FeatureTable.learn(corpus_with(links=[["d1"], ["d2"], [], ["d3"]]), ["links"])
    assert table.coordinates.tolist() == [[0, 1, 2, 3], [1, 0, 1, 3], [2, 1, 0, 3], [3, 3, 3, 0]]
    assert table.encode({"links": [["d0", "d2"], ["nowhere"], ["d3"]]}).tolist() == [
        [1, 2, 1, 3],
        [3, 3, 3, 3],
        [3, 3, 3, 1],
    ]


def test_a_table_survives_json() -> None:
    corpus = corpus_with(year=[1999, 2000, 2001], venue=["a", "b", "a"], links=[["d1"], ["d2"], []])
    table = FeatureTable.learn(corpus, ["year", "venue", "links"])
    again = FeatureTable.from_plain(json.loads(json.dumps(table.to_plain())), table.coordinates)
    new = {"year": [2005, None], "venue": ["c", "a"], "links": [["d0"], []]}
    assert again.columns == table.columns
    assert (again.encode(new) == table.encode(new)).all()


def test_dates_are_given_in_many_ways() -> None:
    corpus = topoi.Corpus.from_tokens([["a"]] * 2, dates=["1999-01-01", "2001-01-01"])
    table = FeatureTable.learn(corpus, ["date"])
    new = table.encode({"date": [datetime.datetime(2000, 1, 1), 2000, "2000-01-01", pd.Timestamp("2000-01-01")]})
    assert new.ravel() == pytest.approx([2000.0] * 4)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([], "empty"),
        (3, "names of columns"),
        ([3], "names of columns"),
        (["nothing"], "no column 'nothing'; there are: authors, id, size"),
        ({"size": "colour"}, "kinds are"),
        ({"word": "number"}, "not a number"),
        ({"word": "date"}, "not a date"),
        (["none"], "no value"),
        (["authors"], "no value"),
    ],
)
def test_bad_features_are_refused(features, message: str) -> None:
    corpus = corpus_with(size=[1.0, 2.0], word=["x", "y"], none=[None, None])
    with pytest.raises(ModelError, match=message):
        FeatureTable.learn(corpus, features)


def test_an_infinite_number_and_a_missing_column_are_refused() -> None:
    table = FeatureTable.learn(corpus_with(size=[1.0, 2.0]), ["size"])
    with pytest.raises(ModelError, match="infinite"):
        table.encode({"size": [np.inf]})
    with pytest.raises(ModelError, match="no column 'size'; there are: weight"):
        table.encode({"weight": [1.0]})
    with pytest.raises(ModelError, match="not int"):
        table.encode(3)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"year": [1990], "venue": ["A", "B"]}, "1 values of 'year', 2 values of 'venue'"),
        ({"year": [1990, 1991], "venue": "AB"}, "'venue' is 'AB'; pass a list"),
        ({"year": 1990, "venue": ["A"]}, "'year' is 1990; pass a list"),
        ({"year": {0: 1990}, "venue": ["A"]}, "pass a list"),
        (pd.DataFrame([[1990, "A", "B"]], columns=["year", "venue", "venue"]), "2 columns 'venue'"),
    ],
)
def test_columns_that_make_no_table_are_refused(source, message: str) -> None:
    table = FeatureTable.learn(corpus_with(year=[1990, 1991], venue=["A", "B"]), ["year", "venue"])
    with pytest.raises(ModelError, match=message):
        table.encode(source)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([1990.0, np.inf], "date", "infinite"),
        ([10**400, 1], "number", "infinite"),
        ([1e300, 1.0], "number", "beyond 1e\\+100"),
        ([[""], [None]], "names", "no value in any document"),
        ([[], []], "category", "no value in any document"),
    ],
)
def test_values_that_nothing_can_be_learned_from_are_refused(values, kind: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        FeatureTable.learn(corpus_with(x=values), {"x": kind})


def test_new_numbers_too_large_for_a_float_are_refused() -> None:
    table = FeatureTable.learn(corpus_with(x=[1, 2]), ["x"])
    for value, message in ((10**400, "infinite"), (-1e200, "beyond")):
        with pytest.raises(ModelError, match=message):
            table.encode({"x": [value]})


def test_names_may_be_a_series() -> None:
    table = FeatureTable.learn(corpus_with(x=[["Ann"], ["Bob"]]), ["x"])
    np.testing.assert_array_equal(table.encode({"x": [pd.Series(["Ann"])]}), table.encode({"x": [["Ann"]]}))


def test_categories_are_the_same_with_a_point_or_with_spaces() -> None:
    table = FeatureTable.learn(corpus_with(x=[1990, 2000], y=["A", "B "]), {"x": "category", "y": "category"})
    assert [column.levels for column in table.columns] == [["1990", "2000"], ["A", "B"]]
    new = pd.DataFrame({"x": [2000, None], "y": [" A", None]})
    assert new["x"].dtype == float and table.unknown(new) == {"x": 1, "y": 1}
