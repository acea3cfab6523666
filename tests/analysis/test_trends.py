"""Shares of topics along time and other properties."""

import warnings

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.analysis.trends import hottest_topics
from topoi.errors import ModelError

YEARS = [1989, 1991, None, 1991, 2003, 1995, None, 2003]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    rows = [rng.choice(list("abcdef"), 5 + d).tolist() for d in range(8)]
    rows[5] = []  # the only document of its year has no words
    return topoi.Corpus.from_tokens(
        rows,
        authors=["Ann"] * 8,
        dates=YEARS,
        metadata={"venue": ["X", "Y"] * 4, "mixed": [1, "a"] * 4, "topic": [1] * 8, "hole": [None] * 8},
    )


@pytest.fixture(scope="module", params=[topoi.LDA, topoi.AuthorTopicModel])
def model(request, corpus):
    return request.param(3, n_iter=20, random_state=0).fit(corpus)


def test_counts_are_those_of_the_sample_to_the_last_word(model, corpus):
    frame = topoi.topic_trends(model)
    assert frame.columns.tolist() == ["year", "topic", "share", "n_words"]
    assert frame["year"].unique().tolist() == [1989, 1991, 2003]  # no missing year, none without words
    doc = np.repeat(np.arange(8), corpus.doc_lengths)
    topic = model.chains_[0].assignments.topic
    for (year, k), row in frame.set_index(["year", "topic"]).iterrows():
        mine = np.isin(doc, [d for d in range(8) if YEARS[d] == year])
        assert row["n_words"] == (topic[mine] == k).sum()
        assert row["share"] == pytest.approx((topic[mine] == k).mean())


@pytest.mark.parametrize(("by", "values"), [("decade", [1980, 1990, 2000]), ("venue", ["X", "Y"])])
def test_shares_sum_to_one_in_every_group(model, corpus, by, values):
    for other in (None, corpus.subset(np.arange(8))):
        frame = topoi.topic_trends(model, other, by=by)
        assert frame[by].unique().tolist() == values
        np.testing.assert_allclose(frame.groupby(by)["share"].sum(), 1)
        assert (frame["share"] >= 0).all()


def test_another_corpus_is_inferred_with_one_warning(model):
    other = topoi.Corpus.from_tokens([["a", "b", "zz"], ["c"]], authors=["Ann", "Ann"], dates=[2010, 2011])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = topoi.topic_trends(model, other)
    assert [str(w.message)[:11] for w in caught] == ["1 of 4 toke"] and caught[0].filename == __file__
    table = frame.pivot(index="year", columns="topic", values="share").to_numpy()
    expected = model.topic_counts(topoi.Corpus.from_tokens([["a", "b"], ["c"]], authors=["Ann", "Ann"]))
    np.testing.assert_allclose(table, expected / [[2], [1]])


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("colour", "no column 'colour'; there are: .*venue"),
        ("hole", "no document with words has a value for 'hole'"),
        ("mixed", "cannot be put in order"),
        ("topic", "'topic' is a column of the result"),
    ],
)
def test_what_cannot_be_grouped_is_refused(model, by, message):
    with pytest.raises(ModelError, match=message):
        topoi.topic_trends(model, by=by)


def test_models_without_topics_are_refused(corpus):
    with pytest.raises(ModelError, match="AuthorModel has no topics"):
        topoi.topic_trends(topoi.AuthorModel(n_iter=2, random_state=0).fit(corpus))


def frame_of(years, shares, n_words):
    rows = [(y, k, s, n) for y, row, n in zip(years, shares, n_words, strict=True) for k, s in enumerate(row)]
    return pd.DataFrame(rows, columns=["year", "topic", "share", "n_words"])


def test_slope_is_weighted_least_squares_with_the_fastest_rise_first():
    years, weight = np.array([1990, 1991, 1995, 2000]), np.array([10, 40, 20, 5])
    first = np.array([0.5, 0.45, 0.3, 0.1])
    found = hottest_topics(frame_of(years, np.column_stack([first, 1 - first]), weight))
    slope = np.polyfit(years, first, 1, w=np.sqrt(weight))[0]
    assert found["topic"].tolist() == [1, 0]
    np.testing.assert_allclose(found["slope"], [-slope, slope])
    np.testing.assert_allclose(found[["first", "last"]], [[0.5, 0.9], [0.5, 0.1]])


def test_slope_of_one_group_is_zero_and_names_are_taken_in_order():
    assert hottest_topics(frame_of([1990], [[0.3, 0.7]], [5]))["slope"].tolist() == [0, 0]
    frame = frame_of(["early", "late"], [[0.3, 0.7], [0.4, 0.6]], [5, 5]).rename(columns={"year": "period"})
    np.testing.assert_allclose(hottest_topics(frame)["slope"], [0.1, -0.1])
