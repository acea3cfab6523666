"""Groups of documents compared: differences, intervals, tests, and the documents behind them."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control

import topoi
from topoi.analysis.groupings import Pair
from topoi.analysis.groups import Counted, _compared, compare_groups, false_discovery_rates, permutation_test
from topoi.errors import ModelError, NotFoundError
from topoi.models.resampling import one_draw

PARTIES = ["left", "right"] * 30


@pytest.fixture(scope="module")
def corpus():
    """Two parties: "tax" words are commoner on the left, "war" words on the right, "day" words are everywhere."""
    rng = np.random.default_rng(0)
    words = [["tax", "debt", "cost"], ["war", "army", "fleet"], ["day", "time", "people"]]
    rows = []
    for d in range(60):
        shares = rng.dirichlet([4, 1, 3] if d % 2 == 0 else [1, 4, 3])
        topic = rng.choice(3, 60, p=shares)
        rows.append([str(rng.choice(words[k])) for k in topic])
    rows[7] = []
    metadata = {
        "party": PARTIES,
        "region": ["north", "east", "south", "west"] * 15,
        "tags": [["a", "b"] if d % 3 == 0 else ["b"] if d % 3 == 1 else None for d in range(60)],
        "same": ["x"] * 60,
        "mixed": [1, "a"] * 30,
    }
    who = [["Ann"] if d % 4 == 0 else ["Bob"] if d % 4 == 1 else ["Ann", "Bob"] for d in range(60)]
    return topoi.Corpus.from_tokens(rows, authors=who, dates=[1950 + d // 2 for d in range(60)], metadata=metadata)


@pytest.fixture(scope="module")
def model(corpus):
    return topoi.LDA(3, alpha=1.0, beta=0.1, n_iter=200, random_state=0).fit(corpus)


def test_planted_differences_are_found_and_nothing_else(model, corpus):
    frame = topoi.compare_groups(model, by="party")
    shares = [f"{name}{end}" for name in ("share", "other_share") for end in ("", "_lower", "_upper")]
    assert frame.columns.tolist() == [
        *("group", "other", "topic", *shares, "difference", "lower", "upper", "p_value", "q_value")
    ]
    assert set(frame["group"]) == {"left"} and set(frame["other"]) == {"right"}
    assert frame.attrs["n_documents"] == {"left": 30, "right": 29} and "note" not in frame.attrs
    words = corpus.words.tolist()
    best = [int(model.topic_word_[:, words.index(word)].argmax()) for word in ("tax", "war")]
    found = frame.set_index("topic")
    assert found.loc[best[0], "lower"] > 0 > found.loc[best[1], "upper"]
    assert (found.loc[best, "q_value"] <= 0.01).all()
    (rest,) = set(range(3)) - set(best)
    assert abs(found.loc[rest, "difference"]) < 0.4 * found.loc[best, "difference"].abs().min()
    assert found.loc[rest, "p_value"] > found.loc[best, "p_value"].max()
    assert frame["topic"].iloc[0] == best[0] and frame["topic"].iloc[-1] == best[1]


def test_numbers_are_shares_of_words(model, corpus):
    frame = topoi.compare_groups(model, by="party", n_permutations=19).set_index("topic")
    counts = model.topic_counts(corpus)
    for name, rows in (("share", np.arange(0, 60, 2)), ("other_share", np.arange(1, 60, 2))):
        expected = counts[rows].sum(axis=0) / counts[rows].sum()
        np.testing.assert_allclose(frame[name].sort_index(), expected)
    np.testing.assert_allclose(frame["difference"], frame["share"] - frame["other_share"])
    assert (frame["lower"] <= frame["difference"]).all() and (frame["difference"] <= frame["upper"]).all()


def test_shares_of_groups_have_intervals_of_their_own(model):
    """Quantiles of replicates agree with the moments of resampled documents, which are computed without drawing any."""
    frame = topoi.compare_groups(model, by="party", n_permutations=19).set_index("topic")
    wide = topoi.compare_groups(model, by="party", n_permutations=19, level=0.99)
    for name, first in (("share", 0), ("other_share", 1)):
        lower, upper = frame[f"{name}_lower"].sort_index(), frame[f"{name}_upper"].sort_index()
        assert ((lower < frame[name].sort_index()) & (frame[name].sort_index() < upper)).all()
        deviation = model.chains_[0].group_moments(np.arange(first, 60, 2)).deviation
        np.testing.assert_allclose((upper - lower) / 2 / 1.645, deviation, rtol=0.25)
        assert (wide.set_index("topic")[f"{name}_lower"].sort_index() < lower).all()
    # A difference of independent groups varies as both together.
    whole, parts = (
        frame["upper"] - frame["lower"],
        [frame[f"{name}_upper"] - frame[f"{name}_lower"] for name in ("share", "other_share")],
    )
    np.testing.assert_allclose(whole, np.hypot(*parts), rtol=0.25)


def test_a_file_gives_the_same_answers(model, corpus, tmp_path):
    model.save(tmp_path / "m.topoi")
    view = topoi.view(tmp_path / "m.topoi")
    for how in ({"by": "party"}, {"by": "decade", "groups": (1950, 1960)}, {"by": "tags", "groups": "a"}):
        pd.testing.assert_frame_equal(
            topoi.compare_groups(view, **how, n_permutations=19), topoi.compare_groups(model, **how, n_permutations=19)
        )
        documents = [topoi.group_documents(each, 0, **how) for each in (view, model)]
        pd.testing.assert_frame_equal(*documents, check_dtype=False)
    # An equal corpus is recognised document by document.
    equal = corpus.subset(np.arange(60))
    frames = [topoi.compare_groups(model, "party", corpus=each, n_permutations=19) for each in (None, equal)]
    columns = ["topic", "share", "other_share", "difference", "p_value"]
    pd.testing.assert_frame_equal(frames[0][columns], frames[1][columns])


@pytest.mark.parametrize(
    ("how", "name", "other", "sizes"),
    [
        ({"by": "region", "groups": "north"}, "north", "all others", [15]),
        ({"by": "region", "groups": ["north", "south"]}, "north", "south", [15, 15]),
        ({"by": "year", "groups": (1950, 1959)}, "1950..1959", "all others", [19]),
        ({"by": "year", "groups": ["1950..1959", "1960.."]}, "1950..1959", "1960..", [19, 40]),
        ({"by": "year", "groups": [(1950, 1951), 1960]}, "1950..1951", "1960", [4, 2]),
        ({"by": "tags", "groups": ["a", "b"]}, "a", "b", None),
        ({"by": "authors", "groups": "Ann"}, "Ann", "all others", [45]),
        ({"by": "authors", "groups": ["Ann", "Bob"]}, "Ann", "Bob", [15, 15]),
    ],
)
def test_groups_are_named_in_many_ways(model, how, name, other, sizes):
    if sizes is None:  # every document of "a" is also one of "b"
        with pytest.raises(ModelError, match="0 documents with words of its own"):
            topoi.compare_groups(model, **how)
        return
    frame = topoi.compare_groups(model, **how, n_permutations=19)
    assert (frame["group"].unique().tolist(), frame["other"].unique().tolist()) == ([name], [other])
    # Document 7 has no words.
    np.testing.assert_allclose(list(frame.attrs["n_documents"].values()), sizes, atol=1)


def test_several_groups_are_each_compared_with_all_others(model):
    frame = topoi.compare_groups(model, by="region", n_permutations=19)
    assert frame["group"].unique().tolist() == ["east", "north", "south", "west"]
    assert set(frame["other"]) == {"all others"} and len(frame) == 12
    np.testing.assert_allclose(frame["q_value"], false_discovery_rates(frame["p_value"].to_numpy()))
    one = topoi.compare_groups(model, by="region", groups="west", n_permutations=19)
    columns = ["topic", "share", "other_share", "difference"]
    pd.testing.assert_frame_equal(one[columns], frame[frame["group"] == "west"][columns].reset_index(drop=True))


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"by": "colour"}, ModelError, "no column 'colour'"),
        ({"by": "same"}, ModelError, "all documents have the same value"),
        ({"by": "mixed"}, ModelError, "of several kinds"),
        ({"by": "party", "groups": "middle"}, NotFoundError, "no document has 'middle'"),
        ({"by": "party", "groups": ["a", "b", "c"]}, ModelError, "groups has 3 values"),
        ({"by": "party", "n_permutations": 3}, ModelError, "n_permutations"),
        ({"by": "party", "level": 1.0}, ModelError, "level is 1.0"),
        ({"by": "year", "groups": 1953}, ModelError, "1 documents with words of its own"),
        ({"by": "authors"}, ModelError, "name one author"),
        ({"by": "authors", "groups": "Carl"}, NotFoundError, "Carl"),
        ({"by": "party", "corpus": ["a text"]}, ModelError, "pass a topoi.Corpus"),
    ],
)
def test_bad_input_is_named(model, how, error, message):
    with pytest.raises(error, match=message):
        topoi.compare_groups(model, **how)


def test_a_model_without_topics_is_refused(corpus):
    with pytest.raises(ModelError, match="has no topics"):
        topoi.compare_groups(topoi.AuthorModel(n_iter=2, random_state=0).fit(corpus), by="party")


def test_a_model_that_was_told_of_the_groups_says_so(corpus, tmp_path):
    told = topoi.DirichletMultinomialRegression(3, features=["party"], n_iter=20, random_state=0).fit(corpus)
    assert "itself read 'party'" in topoi.compare_groups(told, by="party", n_permutations=19).attrs["note"]
    assert "note" not in topoi.compare_groups(told, by="region", n_permutations=19).attrs
    told.save(tmp_path / "told.topoi")
    view = topoi.view(tmp_path / "told.topoi")
    assert "itself read 'party'" in topoi.compare_groups(view, by="party", n_permutations=19).attrs["note"]
    assert "note" not in topoi.compare_groups(view, by="region", n_permutations=19).attrs
    authors = topoi.AuthorTopicModel(3, n_iter=10, random_state=0).fit(corpus)
    assert "note" in topoi.compare_groups(authors, by="authors", groups="Ann", n_permutations=19).attrs


def test_effects_of_documents_are_those_of_leaving_them_out(model, corpus):
    counts = model.topic_counts(corpus)
    left, right = ([d for d in range(60) if PARTIES[d] == party and d != 7] for party in ("left", "right"))

    def difference(ours, theirs, k):
        return counts[ours, k].sum() / counts[ours].sum() - counts[theirs, k].sum() / counts[theirs].sum()

    for k in range(3):
        frame = topoi.group_documents(model, k, by="party", n=60)
        sign = 1 if difference(left, right, k) >= 0 else -1
        assert len(frame) == 59 and frame["effect"].is_monotonic_decreasing
        for row in frame.to_dict("records"):
            d = row["document"]
            without = difference([i for i in left if i != d], [i for i in right if i != d], k)
            assert row["effect"] == pytest.approx(sign * (difference(left, right, k) - without))
            assert row["group"] == PARTIES[d] and row["n_words"] == round(counts[d, k])
        shown = topoi.topic_documents(model, k, n=60).set_index("document")[["share", "lower", "upper"]]
        pd.testing.assert_frame_equal(
            frame.set_index("document")[["share", "lower", "upper"]].sort_index(), shown.sort_index()
        )
    assert "lower" not in topoi.group_documents(model, 0, by="party", level=None)
    given = topoi.group_documents(model, 0, by="party", corpus=corpus.subset(np.arange(40)), n=3)
    assert given["lower"].isna().all() and given["share"].between(0, 1, inclusive="neither").all()
    with pytest.raises(ModelError, match="name the group"):
        topoi.group_documents(model, 0, by="region")


def made(rng, n_ours, n_theirs, means, concentration=3.0, ours_concentration=None):
    """Counted documents of two groups whose topic mixtures are Dirichlet; ``means`` is a pair."""
    rows = []
    spreads = ours_concentration or concentration, concentration
    for n, mean, spread in zip((n_ours, n_theirs), means, spreads, strict=True):
        lengths = np.maximum(rng.lognormal(4, 0.6, n).round(), 2).astype(int)
        theta = rng.dirichlet(np.asarray(mean) * spread, n)
        rows.append(np.stack([rng.multinomial(length, each) for length, each in zip(lengths, theta, strict=True)]))
    counts = np.concatenate(rows).astype(float)
    pair = Pair("a", "b", np.arange(n_ours), np.arange(n_ours, n_ours + n_theirs))
    return Counted(csr_array(counts), counts.sum(axis=1), one_draw(counts), pd.DataFrame()), pair


def test_statistics_are_differences_in_standard_errors():
    """The test's p-value equals that of a plain loop over the same number of random groupings, within chance."""
    counted, pair = made(np.random.default_rng(5), 8, 14, ([0.5, 0.3, 0.2], [0.3, 0.4, 0.3]))
    dense, lengths = counted.counts.toarray(), counted.lengths

    def statistic(ours):
        found = []
        for rows in (ours, ~ours):
            share = dense[rows].sum(axis=0) / lengths[rows].sum()
            residual = dense[rows] - share * lengths[rows, None]
            n = rows.sum()
            found.append((share, (residual**2).sum(axis=0) / lengths[rows].sum() ** 2 * n / (n - 1)))
        return np.abs(found[0][0] - found[1][0]) / np.sqrt(found[0][1] + found[1][1])

    ours = np.arange(22) < 8
    rng = np.random.default_rng(0)
    seen = statistic(ours)
    plain = np.mean([statistic(rng.permutation(ours)) >= seen for _ in range(4000)], axis=0)
    np.testing.assert_allclose(permutation_test(counted, pair, 4000, 1), plain, atol=0.04)


@pytest.mark.parametrize("spread", [3.0, 0.8])
def test_the_level_of_the_test_holds(spread):
    """Groups of unequal size whose documents have the same mean shares, also if one group scatters more."""
    rng = np.random.default_rng(7)
    p = []
    for seed in range(150):
        counted, pair = made(rng, 12, 40, ([0.6, 0.3, 0.1],) * 2, 3.0, spread)
        p.append(permutation_test(counted, pair, 99, seed))
    rejected = (np.array(p) <= 0.05).mean(axis=0)
    # Shuffling makes the test exact for documents that are alike; of unequal spread, rare topics are rejected too often
    assert (rejected <= (0.09 if spread == 3.0 else 0.2)).all()
    assert (np.array(p) <= 0.5).mean() == pytest.approx(0.5, abs=0.09)


def test_intervals_of_differences_hold_them():
    rng = np.random.default_rng(8)
    means = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.4, 0.3])
    held = []
    for seed in range(60):
        counted, pair = made(rng, 15, 40, means)
        frame = _compared(counted, pair, 0.05, 19, seed).sort_values("topic")
        truth = means[0] - means[1]
        held.append((frame["lower"] <= truth) & (truth <= frame["upper"]))
    assert 0.83 <= np.mean(held) <= 0.97


def test_documents_that_belong_together_are_one():
    """Ten copies of each document say no more than one; counted as independent, they seem to say much more."""
    rng = np.random.default_rng(9)
    rows = [[str(w) for w in rng.choice(list("abcd"), 30, p=rng.dirichlet([0.5] * 4))] for _ in range(16)]
    copies = [row for row in rows for _ in range(10)]
    metadata = {"side": np.repeat(["x", "y"] * 8, 10).tolist(), "speech": np.repeat(np.arange(16), 10).tolist()}
    metadata["speech"][3] = None
    many = topoi.Corpus.from_tokens(copies, metadata=metadata)
    model = topoi.LDA(2, alpha=0.5, n_iter=60, random_state=0).fit(many)
    alone, together = (topoi.compare_groups(model, "side", units=units) for units in (None, "speech"))
    np.testing.assert_allclose(alone["difference"], together["difference"])
    widths = [(frame["upper"] - frame["lower"]).mean() for frame in (alone, together)]
    assert 2.0 < widths[1] / widths[0] < 4.5  # the root of ten, less what extra documents add
    assert (together["p_value"] >= alone["p_value"]).all()
    with pytest.raises(ModelError, match="no column 'chapter'"):
        topoi.compare_groups(model, "side", units="chapter")
    with pytest.raises(ModelError, match="has one unit"):
        topoi.compare_groups(model, "side", units="side")


def test_rates_are_scipys():
    p = np.random.default_rng(0).random(50) ** 2
    np.testing.assert_allclose(false_discovery_rates(p), false_discovery_control(p))
    assert false_discovery_rates(np.zeros(0)).shape == (0,)


def test_the_same_seed_gives_the_same_numbers(model):
    first, again = (compare_groups(model, "party", random_state=3, n_permutations=49) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert not first["lower"].equals(compare_groups(model, "party", random_state=4, n_permutations=49)["lower"])


def test_groups_of_any_documents():
    rows = [["tax", "cost"] * 5, ["war", "army"] * 5] * 10
    corpus = topoi.Corpus.from_tokens(rows, metadata={"party": ["A", "B"] * 10})
    model = topoi.LDA(2, alpha=0.1, n_iter=30, random_state=0).fit(corpus)
    by_column = topoi.compare_groups(model, "party", ["A", "B"], n_permutations=19)
    numbered = topoi.compare_groups(model, None, [range(0, 20, 2), np.arange(1, 20, 2)], n_permutations=19)
    assert numbered["difference"].tolist() == by_column["difference"].tolist()
    assert numbered.attrs["n_documents"] == {"first": 10, "second": 10}
    beside_all = topoi.compare_groups(model, None, [np.arange(0, 20, 2)], n_permutations=19)
    assert beside_all["other"].unique().tolist() == ["all others"]
    for wrong in (None, "A", [], [[1.5]], [[True, False]], [[[0]]], [[0], [1], [2]]):
        with pytest.raises(ModelError, match="numbers of documents"):
            topoi.compare_groups(model, None, wrong)
    with pytest.raises(NotFoundError, match="0 to 19"):
        topoi.compare_groups(model, None, [[20, 1]])
