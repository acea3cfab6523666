"""Shares along features, effects of their values, and links: the numbers are the model's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.analysis.features import grid
from topoi.analysis.shares import document_points
from topoi.errors import ModelError, NotFoundError

PEOPLE = ["Ann", "Bob", "Cy"]


def make_corpus(n: int = 48) -> topoi.Corpus:
    rng = np.random.default_rng(0)
    words = [list("abcd"), list("efgh")]
    rows = [rng.choice(words[(d % 3 == 0) or d > 40], 25).tolist() for d in range(n)]
    return topoi.Corpus.from_tokens(
        rows,
        authors=[[PEOPLE[d % 3]] + (["Dee"] if d % 5 == 0 else []) for d in range(n)],
        dates=[1900 + 2 * d for d in range(n)],
        ids=[f"d{d}" for d in range(n)],
        titles=[f"title {d}" for d in range(n)],
        metadata={
            "party": [None if d == 8 else "AB"[d % 2] for d in range(n)],
            "size": [[1.5, 2.5, 3.5, 2.5][d % 4] for d in range(n)],
            "cites": [[f"d{(d * 5 + 1) % n}", f"d{(d + 1) % n}", "elsewhere"] + ["d5"] * (d == 6) for d in range(n)],
        },
    )


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    return make_corpus()


@pytest.fixture(scope="module")
def kernel(corpus):
    features = ["year", "authors", "party", "size"]
    settings = {"kernel": topoi.Proximity(length_scale=[30.0, 1.0, 2.0, 4.0]), "learn_kernel": False, "n_warmup": 20}
    return topoi.KernelTopicModel(2, features=features, n_iter=30, random_state=0, **settings).fit(corpus)


@pytest.fixture(scope="module")
def regression(corpus):
    features = ["year", "authors", "party", "size", "cites"]
    model = topoi.DirichletMultinomialRegression(2, features=features, n_iter=60, n_warmup=20, random_state=0)
    return model.fit(corpus)


@pytest.fixture(params=["kernel", "regression"])
def model(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("noise", [False, True])
def test_a_curve_is_what_predict_says(model, noise):
    frame = topoi.share_curve(model, "year", {"authors": [["Ann", "Dee"], "bob"], "party": "A"}, [1], n=7, noise=noise)
    years = grid(1900, 1994, 7, whole=True).tolist()
    source = {
        "year": years * 2,
        "authors": [["Ann", "Dee"]] * len(years) + [["Bob"]] * len(years),
        "party": ["A"] * 2 * len(years),
        "size": [2.5] * 2 * len(years),
        "cites": [[]] * 2 * len(years),
    }
    expected = model.predict(source, noise=noise)
    expected = expected[expected["topic"] == 1]
    assert frame["year"].tolist() == source["year"]
    assert frame["given"].unique().tolist() == ["Ann, Dee; A", "Bob; A"]
    for name in ("mean", "lower", "upper"):
        np.testing.assert_allclose(frame[name], expected[name])


def test_what_is_not_given_is_typical(model):
    frame = topoi.share_curve(model, "year", values=[1950], topics=[0])
    assert frame["given"].tolist() == [""]
    nobody = {"year": [1950], "authors": [["Zoe"]], "party": ["B"], "size": [2.5], "cites": [["nowhere"]]}
    assert frame["mean"].item() == pytest.approx(model.predict(nobody, noise=False)["mean"][0])
    same = topoi.share_curve(model, "year", {"authors": [None], "party": None, "size": 2.5}, [0], [1950])
    assert same["mean"].item() == frame["mean"].item()
    assert same["given"].item() == "somebody new; B; size 2.5"


def test_along_other_features(model):
    names = topoi.share_curve(model, "authors", topics=[0])
    assert names["authors"].tolist() == ["Ann", "Bob", "Cy", "Dee"]  # those with most documents first
    party = topoi.share_curve(model, "party", values=["b"], topics=[0])
    assert party["party"].tolist() == ["B"]
    size = topoi.share_curve(model, "size", n=3, topics=[0])
    assert size["size"].tolist() == [1.5, 2.5, 3.5]
    whole = topoi.share_curve(model, topics=[0])
    assert whole.columns[0] == "year" and all(value == int(value) for value in whole["year"]) and len(whole) <= 60
    assert len(topoi.share_curve(model, n=5)) == 2 * 5


def test_given_as_a_frame(model):
    given = pd.DataFrame({"authors": ["Ann", "Bob"], "size": [2.0, 2.5]})
    frame = topoi.share_curve(model, given=given, topics=[1], n=3)
    assert frame["given"].unique().tolist() == ["Ann; size 2", "Bob; size 2.5"]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"along": "nothing"}, ModelError, "no feature 'nothing'; the features are 'year'"),
        ({"given": {"nothing": 1}}, ModelError, "no feature 'nothing'"),
        ({"given": {"year": 1}}, ModelError, "'year' is what the shares go along"),
        ({"given": {"authors": "Anm"}}, NotFoundError, "no author 'Anm'; did you mean 'Ann'"),
        ({"given": {"authors": []}}, ModelError, "no value of 'authors'"),
        ({"given": {"authors": ["Ann", "Bob"], "party": ["A", "B", "A"]}}, ModelError, "2 values of 'authors' and 3"),
        ({"given": 7}, ModelError, "pass values by feature"),
        ({"given": {"size": "much"}}, ModelError, "not a number"),
        ({"topics": [2]}, NotFoundError, "no topic 2"),
        ({"topics": []}, ModelError, "topics is empty"),
        ({"values": []}, ModelError, "values is empty"),
        ({"n": 1}, ModelError, "n is 1"),
        ({"level": 1.5}, ModelError, "level is 1.5"),
    ],
)
def test_wrong_questions(model, given, error, says):
    with pytest.raises(error, match=says):
        topoi.share_curve(model, **given)


def test_models_that_cannot_answer(corpus, tmp_path, kernel):
    with pytest.raises(ModelError, match="LDA reads no metadata; fit a KernelTopicModel"):
        topoi.share_curve(topoi.LDA(2, n_iter=2, random_state=0).fit(corpus))
    matrix = topoi.KernelTopicModel(2, kernel=np.eye(48), n_iter=4, n_warmup=2, random_state=0).fit(corpus)
    with pytest.raises(ModelError, match="kernel is a matrix"):
        topoi.share_curve(matrix)
    kernel.save(tmp_path / "s.topoi")
    with pytest.raises(ModelError, match=r"before it is loaded; use topoi\.load"):
        topoi.share_curve(topoi.view(tmp_path / "s.topoi"))
    loaded = topoi.share_curve(topoi.load(tmp_path / "s.topoi"), n=5)
    pd.testing.assert_frame_equal(loaded, topoi.share_curve(kernel, n=5))


def test_documents_that_a_curve_is_about(model, corpus):
    frame = document_points(model, "year", {"authors": [["Ann", "Dee"], "Bob", None]})
    lists = corpus.author_lists()
    both = frame[frame["given"] == "Ann, Dee"]["document"].tolist()
    assert both == [d for d in range(48) if {"Ann", "Dee"} <= set(lists[d])] and len(both) > 1
    assert frame[frame["given"] == "Bob"]["document"].tolist() == [d for d in range(48) if "Bob" in lists[d]]
    assert (frame["given"] == "somebody new").sum() == 48
    np.testing.assert_array_equal(frame[[0, 1]], model.doc_topic_[frame["document"]])
    np.testing.assert_array_equal(frame["year"], corpus.documents["year"].to_numpy()[frame["document"]])
    with pytest.raises(ModelError, match="no number or date"):
        document_points(model, "authors")


def test_effects_of_a_regression_are_its_coefficients(regression):
    frame = topoi.topic_effects(regression, 1, n=100)
    table = regression.coefficients()
    table = table[(table["topic"] == 1) & (table["feature"] != "intercept")]
    assert frame.attrs["measure"] == "coefficient" and len(frame) == len(table)
    assert frame["effect"].abs().is_monotonic_decreasing and frame["rank"].tolist() == list(range(1, len(frame) + 1))
    by_label = table.set_index("feature")
    ann = frame[frame["value"] == "Ann"].iloc[0]
    expected = by_label.loc["authors=Ann"]
    assert ann["effect"] == expected["coefficient"]
    assert ann["upper"] - ann["effect"] == pytest.approx(1.2815516 * expected["standard_error"])
    assert ann["effect"] - ann["lower"] == pytest.approx(1.2815516 * expected["standard_error"])
    size = frame[frame["feature"] == "size"].iloc[0]
    assert size["value"] == "one standard deviation more" and size["effect"] == by_label.loc["size"]["coefficient"]
    assert set(topoi.topic_effects(regression, 0, "year")["feature"]) == {"year"}


def test_effects_on_shares(model):
    frame = topoi.topic_effects(model, 1, n=100, measure="share")
    assert frame.attrs["measure"] == "share"
    typical = topoi.share_curve(model, "party", values=[None], topics=[1])["mean"].item()
    party = topoi.share_curve(model, "party", values=["A"], topics=[1]).iloc[0]
    mine = frame[(frame["feature"] == "party") & (frame["value"] == "A")].iloc[0]
    for name, part in (("effect", "mean"), ("lower", "lower"), ("upper", "upper")):
        assert mine[name] == pytest.approx(party[part] - typical)
    assert (frame["feature"] == "year").sum() == 5 and (frame["feature"] == "authors").sum() == 4


def test_a_planted_effect_is_found(model):
    """Ann writes of other things than Bob and Cy."""
    topic = int(model.doc_topic_[0].argmax())
    frame = topoi.topic_effects(model, topic, "authors", measure="share").set_index("value")
    assert frame.loc["Ann", "effect"] > frame.loc[["Bob", "Cy"], "effect"].max() + 0.2
    assert topoi.topic_effects(model, topic, "authors", n=1)["value"].tolist() == ["Ann"]


def test_effects_that_are_not_there(kernel, corpus):
    with pytest.raises(ModelError, match="has no coefficients; use measure='share'"):
        topoi.topic_effects(kernel, 0, measure="coefficient")
    with pytest.raises(ModelError, match="no feature 'x'"):
        topoi.topic_effects(kernel, 0, "x")
    with pytest.raises(NotFoundError, match="no topic 9"):
        topoi.topic_effects(kernel, 9)
    links = topoi.KernelTopicModel(2, features=["cites"], n_iter=4, n_warmup=2, random_state=0).fit(corpus)
    with pytest.raises(ModelError, match="no list of values; see topoi.link_neighbourhood"):
        topoi.topic_effects(links, 0)
    with pytest.raises(ModelError, match="links, which have no order"):
        topoi.share_curve(links)


@pytest.fixture(scope="module")
def linked(corpus):
    return topoi.KernelTopicModel(2, features=["year", "cites"], n_iter=10, n_warmup=5, random_state=0).fit(corpus)


def test_the_documents_around_one(linked, regression, corpus):
    cites = [{int(name[1:]) for name in row if name != "elsewhere"} for row in corpus.documents["cites"]]
    for model in (linked, regression):
        for document in (0, 5, "d17"):
            frame = topoi.link_neighbourhood(model, document)
            d = int(str(document).removeprefix("d"))
            found = {int(k): r for k, r in zip(frame["document"], frame["relation"], strict=True)}
            assert found.pop(d) == "itself" and frame["document"][0] == d
            out, back = cites[d] - {d}, {e for e in range(48) if d in cites[e]} - {d}
            expected = {e: "both" if e in back else "linked" for e in out} | {e: "links here" for e in back - out}
            assert found == expected and len(frame) == 1 + len(found)
            assert d != 5 or found[6] == "both"
            np.testing.assert_array_equal(frame["topic"], model.doc_topic_[frame["document"]].argmax(axis=1))
            np.testing.assert_array_equal(frame["share"], model.doc_topic_[frame["document"]].max(axis=1))
            assert frame["title"][0] == f"title {d}" and frame["similarity"][0] == pytest.approx(1.0)


def test_of_many_links_the_most_alike(linked):
    every, few = topoi.link_neighbourhood(linked, 8), topoi.link_neighbourhood(linked, 8, n=1)
    assert few.attrs["n_left_out"] == len(every) - len(few) > 0 == every.attrs["n_left_out"]
    out = every[every["relation"].isin(["linked", "both"])]
    assert out["similarity"].nunique() > 1
    assert few[few["relation"].isin(["linked", "both"])]["similarity"].item() == out["similarity"].max()


def test_links_that_are_not_there(kernel, linked, tmp_path):
    with pytest.raises(ModelError, match="none of the model's features are links"):
        topoi.link_neighbourhood(kernel, 0)
    with pytest.raises(ModelError, match="'year' is no feature of links; there are: 'cites'"):
        topoi.link_neighbourhood(linked, 0, "year")
    with pytest.raises(NotFoundError):
        topoi.link_neighbourhood(linked, "d99")
    with pytest.raises(NotFoundError):
        topoi.link_neighbourhood(linked, 48)
    linked.save(tmp_path / "s.topoi", corpus=False)
    with pytest.raises(ModelError, match="saved without metadata"):
        topoi.link_neighbourhood(topoi.load(tmp_path / "s.topoi"), 0)


@pytest.fixture(scope="module")
def semicolons():
    """Names and a category with semicolons in them."""
    corpus = topoi.Corpus.from_tokens(
        [["a"] * 5, ["b"] * 5] * 4,
        authors=[["Bob; C"], ["Ann"]] * 4,
        dates=list(range(1990, 1998)),
        metadata={"venue": ["x; y", "z"] * 4},
    )
    features = {"year": None, "authors": None, "venue": "category"}
    return topoi.DirichletMultinomialRegression(2, features=features, n_iter=5, random_state=0).fit(corpus)


def test_a_name_may_have_a_semicolon_in_it(semicolons):
    as_text = topoi.share_curve(semicolons, "year", {"authors": ["Bob; C", "Ann"]})
    pd.testing.assert_frame_equal(as_text, topoi.share_curve(semicolons, "year", {"authors": [["Bob; C"], ["Ann"]]}))
    assert set(topoi.share_curve(semicolons, "venue")["venue"]) == {"x; y", "z"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"values": 1990}, "values is 1990"), ({"values": "1990"}, "values is '1990'"), ({"topics": 1}, "topics is 1")],
)
def test_one_value_is_no_list(semicolons, settings, message):
    with pytest.raises(ModelError, match=message):
        topoi.share_curve(semicolons, "year", **settings)


def test_without_features_there_is_nothing_to_go_along(corpus):
    plain = topoi.DirichletMultinomialRegression(2, features=[], n_iter=2, random_state=0).fit(corpus)
    with pytest.raises(ModelError, match="no features"):
        topoi.share_curve(plain)


def test_no_value_of_a_feature_is_left_out(model, monkeypatch):
    whole = topoi.topic_effects(model, 1, "authors", n=100, measure="share")
    monkeypatch.setattr("topoi.analysis.effects._VALUES_AT_ONCE", 3)
    pd.testing.assert_frame_equal(topoi.topic_effects(model, 1, "authors", n=100, measure="share"), whole)
    assert sorted(whole["value"]) == ["Ann", "Bob", "Cy", "Dee"]
