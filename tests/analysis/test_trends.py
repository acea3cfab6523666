"""Shares of topics along time and other properties."""

import re
import warnings

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoi
from topoi.analysis.trends import hottest_topics, tenth, topic_moves
from topoi.cli.look import percent as cli_percent
from topoi.drawing.words import percent as web_percent
from topoi.errors import ModelError
from topoi.models.share_moments import change_deviations
from topoi.models.smoothed_counts import SmoothedCounts

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


def test_counts_are_those_of_the_samples_to_the_last_word(model, corpus):
    frame = topoi.topic_trends(model)
    assert frame.columns.tolist() == ["year", "topic", "share", "n_words", "lower", "upper"]
    assert frame["year"].unique().tolist() == [1989, 1991, 2003]  # no missing year, none without words
    doc = np.repeat(np.arange(8), corpus.doc_lengths)
    topic = model.chains_[0].averaged.stacked("topic", np.int64)
    for (year, k), row in frame.set_index(["year", "topic"]).iterrows():
        mine = np.isin(doc, [d for d in range(8) if YEARS[d] == year])
        assert row["n_words"] == pytest.approx((topic[:, mine] == k).sum() / len(topic))
        assert row["share"] == pytest.approx((topic[:, mine] == k).mean())


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
        ("authors", "several authors.*compare_groups takes it"),
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


def test_a_thin_year_decides_nothing():
    """The first year has four words, all of topic 0, which then rises: from 90 to 30 per cent it would have fallen."""
    years = np.arange(1790, 1801)
    share = np.concatenate(([0.9], np.linspace(0.1, 0.3, 10)))
    found = hottest_topics(frame_of(years, np.column_stack([share, 1 - share]), [4] + [1000] * 10)).set_index("topic")
    assert found["direction"].to_dict() == {0: 1, 1: -1}
    # A tenth is 1000.4 words: those of the thin year, and 996.4 of the next; the last tenth has 0.4 of the one before.
    assert found.loc[0, "first"] == pytest.approx((4 * 0.9 + 996.4 * 0.1) / 1000.4)
    assert found.loc[0, "last"] == pytest.approx((1000 * 0.3 + 0.4 * share[-2]) / 1000.4)
    np.testing.assert_allclose(found["change"], found["last"] - found["first"])


def test_topics_that_read_the_same_at_both_ends_do_not_move():
    ends = [(0.1251, 0.1349), (0.0501, 0.0503), (0.0994, 0.1004), (0.0, 0.0004), (0.0004, 0.0006), (0.2, 0.1)]
    rest = 1 - np.sum(ends, axis=0)
    found = hottest_topics(frame_of([1990, 1991], np.column_stack([np.transpose(ends), rest]), [100, 100]))
    assert found.set_index("topic")["direction"].to_dict() == {0: 0, 1: 0, 2: 1, 3: 0, 4: 1, 5: -1, 6: 1}
    assert found["topic"].tolist() == [6, 2, 4, 0, 3, 1, 5]  # risers, then those that stay, then fallers


@pytest.fixture(scope="module")
def moving():
    """Forty years of five documents, in which topic 0 rises a little."""
    rng = np.random.default_rng(3)
    counts = np.zeros((200, 3))
    for d in range(200):
        share = 0.4 + 0.1 * (d // 5) / 39
        theta = rng.dirichlet(20 * np.array([share, 0.9 - share, 0.1]))
        counts[d] = rng.multinomial(50, theta)
    return counts, np.repeat(np.arange(40), 5)


def test_the_documents_of_tenths_are_resampled(moving):
    """Deviations equal those of many bootstraps of the same documents, but for the two that small groups get."""
    counts, year = moving
    # The first tenth ends within a long time of which it takes little; the last has four years.
    first, last = np.select([year < 1, year < 12], [1.0, 0.2], 0.0), tenth(np.full(40, 250.0), -1)[year]
    documents = SmoothedCounts.from_counts(counts, np.zeros(3))
    found = change_deviations(documents, first, last)
    rng, shares = np.random.default_rng(0), []
    for part in (first, last):
        weights = rng.standard_exponential((4000, 200)) * part
        shares.append(weights @ counts / (weights @ counts.sum(axis=1))[:, None])
    drawn = np.stack([shares[0].std(axis=0), shares[1].std(axis=0), (shares[1] - shares[0]).std(axis=0)])
    assert ((found > 0.95 * drawn) & (found < 1.25 * drawn)).all()
    np.testing.assert_allclose(found[2], np.hypot(found[0], found[1]))
    # The part of a period that is taken does not matter if it is the same for all.
    np.testing.assert_allclose(change_deviations(documents, 0.01 * first, last), found)
    # Groups that have documents in common differ less than two others, and not at all if they are the same.
    whole = np.ones(200)
    assert (change_deviations(documents, whole, whole)[2] == 0).all()
    common = change_deviations(documents, whole, np.where(year < 38, 1.0, 0.5))
    assert (common[2] < 0.2 * np.hypot(common[0], common[1])).all()


def test_changes_that_are_not_clear_have_no_direction():
    rng = np.random.default_rng(0)
    words = [["sun", "star"], ["law", "court"], ["corn", "wheat"]]
    rows, years = [], []
    for y in range(20):
        for _ in range(6):
            theta = rng.dirichlet(4 * np.array([0.1 + 0.03 * y, 0.6 - 0.03 * y, 0.3]))
            rows.append([str(rng.choice(words[k])) for k in rng.choice(3, 40, p=theta)])
            years.append(1900 + y)
    corpus = topoi.Corpus.from_tokens(rows, dates=years)
    model = topoi.LDA(3, alpha=0.5, beta=0.1, n_iter=100, random_state=0).fit(corpus)
    trends = topoi.topic_trends(model)
    found, plain = topic_moves(model, trends), hottest_topics(trends)
    name = {k: model.top_words(1, topic=k)["word"].item() for k in range(3)}
    ways = {name[k]: way for k, way in zip(found["topic"], found["direction"], strict=True)}
    assert [ways.get(a, ways.get(b)) for a, b in words] == [1, -1, 0]
    assert (plain["direction"] != 0).all()
    pd.testing.assert_frame_equal(
        found.set_index("topic")[["first", "last", "change"]].sort_index(),
        plain.set_index("topic")[["first", "last", "change"]].sort_index(),
    )
    for each in ("first", "last"):
        assert ((found[f"{each}_lower"] <= found[each]) & (found[each] <= found[f"{each}_upper"])).all()
    np.testing.assert_array_equal(found["direction"] != 0, found["lower"] * found["upper"] > 0)
    # Documents given are counted like those of the fit, if they are the same.
    pd.testing.assert_frame_equal(topic_moves(model, trends, corpus.subset(np.arange(120))), found, rtol=1e-3)


def as_read(percent):
    """A figure as a reader takes it: "< 0.1 %" is less than 0.1 %, and next to nothing."""
    return 0.0 if "<" in percent else float(re.sub("[^0-9.]", "", percent))


@settings(max_examples=50)
@given(hnp.arrays(float, (5, 4), elements=st.floats(0.001, 1)), st.lists(st.integers(1, 10**6), min_size=5, max_size=5))
def test_figures_never_contradict_the_direction(weights, n_words):
    found = hottest_topics(frame_of(range(5), weights / weights.sum(axis=1, keepdims=True), n_words))
    assert found["topic"].sort_values().tolist() == [0, 1, 2, 3]
    for write in (cli_percent, web_percent):
        first, last = ([as_read(write(x)) for x in found[end]] for end in ("first", "last"))
        assert found["direction"].tolist() == np.sign(np.subtract(last, first)).tolist()
    np.testing.assert_allclose(found[["first", "last"]].sum(), 1.0)
    assert (found["direction"].diff().dropna() <= 0).all()
    for _, part in found.groupby("direction"):
        assert (part["change"].diff().dropna() <= 0).all()


def test_one_group_does_not_move_and_names_are_taken_in_order():
    assert hottest_topics(frame_of([1990], [[0.3, 0.7]], [5]))["direction"].tolist() == [0, 0]
    frame = frame_of(["early", "late"], [[0.3, 0.7], [0.4, 0.6]], [5, 5]).rename(columns={"year": "period"})
    np.testing.assert_allclose(hottest_topics(frame)["change"], [0.1, -0.1])


def test_intervals_hold_their_shares_and_can_be_left_out(model, corpus):
    frame = topoi.topic_trends(model)
    assert (frame["lower"] <= frame["share"]).all() and (frame["share"] <= frame["upper"]).all()
    assert (frame["lower"] >= 0).all() and (frame["upper"] <= 1).all()
    plain = topoi.topic_trends(model, level=None)
    pd.testing.assert_frame_equal(plain, frame.drop(columns=["lower", "upper"]))
    wide, narrow = topoi.topic_trends(model, level=0.99), topoi.topic_trends(model, level=0.5)
    assert ((wide["upper"] - wide["lower"]) >= (narrow["upper"] - narrow["lower"])).all()
    assert (wide["upper"] - wide["lower"]).sum() > 1.5 * (narrow["upper"] - narrow["lower"]).sum()
    with pytest.raises(ModelError, match="level is 2"):
        topoi.topic_trends(model, level=2)


@pytest.mark.parametrize("by", ["year", "decade", "venue"])
def test_a_store_has_the_intervals_of_the_model(model, by, tmp_path):
    model.save(tmp_path / "m.topoi")
    view = topoi.view(tmp_path / "m.topoi")
    pd.testing.assert_frame_equal(topoi.topic_trends(view, by=by), topoi.topic_trends(model, by=by))
    levels = [topoi.topic_trends(each, by=by, level=0.5) for each in (view, model)]
    pd.testing.assert_frame_equal(*levels)


def test_a_part_of_the_corpus_has_draws_of_its_own_documents(model, corpus):
    counts, draws = model.topic_draws(corpus.subset([6, 0, 0, 3]))
    tables = [np.zeros_like(counts) for _ in range(draws.n_draws)]
    for first, each in draws.blocks():
        for table, (start, column, number) in zip(tables, each, strict=True):
            for d in range(len(start) - 1):
                table[first + d, column[start[d] : start[d + 1]]] = number[start[d] : start[d + 1]]
    np.testing.assert_allclose(np.mean(tables, axis=0), counts)
    assert all((table == table.round()).all() for table in tables)
    assert any((table != counts).any() for table in tables)
