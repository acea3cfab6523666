"""Topics that came and went: found where they were planted, and nowhere else."""

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.analysis.passing import passing_topics, stretch
from topoi.models.periods import main_span
from web.test_moves import WORDS


def planted(counts, n_years=20, seed=0):
    """A model of four topics whose documents of each year are given by ``counts`` of the year."""
    rows, years = [], []
    for y in range(n_years):
        for words, n in zip(WORDS, counts(y), strict=True):
            rows += [words * 2] * n
            years += [1900 + y] * n
    corpus = topoi.Corpus.from_tokens(rows, dates=years)
    return topoi.LDA(4, alpha=0.1, n_iter=40, random_state=seed).fit(corpus)


def named(model):
    words = model.top_words(4).groupby("topic")["word"].agg(set).to_dict()
    return {k: next(group[0] for group in WORDS if set(group) == found) for k, found in words.items()}


def test_only_what_came_and_went_is_found():
    # The sea comes and goes, law falls, taxes rise, corn stays.
    model = planted(lambda y: (25 if 8 <= y < 12 else 2, 30 - y, 5 + y, 10))
    trends = topoi.topic_trends(model)
    found = passing_topics(model, trends)
    assert [named(model)[k] for k in found["topic"]] == ["sea"]
    row = found.iloc[0]
    assert 1907 <= row["since"] <= row["until"] <= 1912
    share = trends[trends["topic"] == row["topic"]].set_index("year")
    words = trends.groupby("year")["n_words"].sum()
    inside = words[(words.index >= row["since"]) & (words.index <= row["until"])].index
    assert share.loc[inside, "share"].min() <= row["peak"] <= share.loc[inside, "share"].max()
    assert row["height"] == pytest.approx(row["peak"] - max(row["first"], row["last"]))
    assert 0 < row["lower"] < row["height"] < row["upper"]
    for side in ("first", "peak", "last"):
        assert row[f"{side}_lower"] <= row[side] <= row[f"{side}_upper"]


def test_a_single_document_is_no_evidence():
    """One document about the sea in a middle year, among few others, makes a peak that proves nothing."""
    model = planted(lambda y: (int(y == 9), 2, 2, 1))
    assert passing_topics(model, topoi.topic_trends(model)).empty


def test_few_years_have_no_middle():
    for years in (1, 2):
        model = planted(lambda y: (5, 5, 5, 5), n_years=years)
        assert passing_topics(model, topoi.topic_trends(model)).empty


def test_stretches_divide_all_words():
    words = np.array([3.0, 50.0, 7.0, 40.0])
    parts = np.stack([stretch(words, i / 10, (i + 1) / 10) for i in range(10)])
    np.testing.assert_allclose(parts.sum(axis=0), 1.0)
    np.testing.assert_allclose(parts @ words, 10.0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({1901: 1, 1990: 50, 1991: 60}, (1990, 1991)),
        ({1990: 50, 1991: 60, 2020: 1}, (1990, 1991)),
        ({year: 10 for year in range(1900, 2000)}, (1900, 1999)),
        ({1990: 5}, (1990, 1990)),
        ({1990: 0, 1991: 0}, (1990, 1991)),
    ],
)
def test_main_span(words, expected):
    series = pd.Series(words)
    assert main_span(series.index, series.to_numpy()) == expected
    first, last = main_span(series.index, series.to_numpy())
    assert series.loc[first:last].sum() >= 0.98 * series.sum()
