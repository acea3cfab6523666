"""Figures of models with metadata hold the numbers that the questions answer."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.plots.figure import topic_colour

BAD = "<b>Dee</b> & Co"


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    rng = np.random.default_rng(0)
    rows = [rng.choice(list("abcdef"), 20).tolist() for _ in range(30)]
    return topoi.Corpus.from_tokens(
        rows,
        authors=[["Ann", "Bob", BAD][d % 3] for d in range(30)],
        dates=[1990 + d for d in range(30)],
        ids=[f"d{d}" for d in range(30)],
        metadata={"cites": [[f"d{(d + 1) % 30}", f"d{(d + 2) % 30}"] for d in range(30)]},
    )


@pytest.fixture(scope="module")
def kernel(corpus):
    features = ["year", "authors"]
    return topoi.KernelTopicModel(3, features=features, n_iter=20, n_warmup=10, random_state=0).fit(corpus)


@pytest.fixture(scope="module")
def regression(corpus):
    features = ["year", "authors", "cites"]
    model = topoi.DirichletMultinomialRegression(3, features=features, n_iter=60, n_warmup=20, random_state=0)
    return model.fit(corpus)


@pytest.fixture(params=["kernel", "regression"])
def model(request):
    return request.getfixturevalue(request.param)


def test_stacked_areas_of_all_topics(model):
    figure = topoi.plots.topic_shares(model, given={"authors": ["Ann"]})
    frame = topoi.share_curve(model, "year", {"authors": ["Ann"]})
    assert len(figure.data) == 3 and all(area.stackgroup for area in figure.data)
    sizes = [float(np.mean(area.y)) for area in figure.data]
    assert sizes == sorted(sizes, reverse=True)
    for area in figure.data:
        k = int(area.name.partition(":")[0])
        rows = frame[frame["topic"] == k]
        assert list(area.x) == rows["year"].tolist() and list(area.y) == rows["mean"].tolist()
        assert area.fillcolor == topic_colour(k)
    assert figure.layout.yaxis.range == (0, 1) and figure.layout.annotations[0].text == "Ann"


def test_lines_with_bands(model):
    figure = topoi.plots.topic_shares(model, "year", topics=[2], level=0.5, noise=True)
    band, line = figure.data
    frame = topoi.share_curve(model, "year", topics=[2], level=0.5, noise=True)
    assert list(line.y) == frame["mean"].tolist() and line.line.color == topic_colour(2)
    assert list(band.y) == frame["upper"].tolist() + frame["lower"].tolist()[::-1] and band.fill == "toself"
    assert "50%" in figure.layout.title.text and "single new document" in figure.layout.title.text


def test_one_topic_of_several_authors_is_overlaid(model):
    figure = topoi.plots.topic_shares(model, topics=[1], given={"authors": ["Ann", BAD, None]})
    lines = [trace for trace in figure.data if trace.fill is None]
    assert [line.name for line in lines] == ["Ann", "&lt;b&gt;Dee&lt;/b&gt; &amp; Co", "somebody new"]
    assert len({line.line.color for line in lines}) == 3 and {line.xaxis for line in lines} == {"x"}


def test_several_topics_of_several_authors_stand_side_by_side(model):
    figure = topoi.plots.topic_shares(model, topics=[1, 2], given={"authors": ["Ann", "Bob", BAD, None]})
    lines = [trace for trace in figure.data if trace.fill is None]
    assert len(lines) == 8 and {line.xaxis for line in lines} == {"x", "x2", "x3", "x4"}
    assert sum(line.showlegend for line in lines) == 2
    assert [title.text for title in figure.layout.annotations][:2] == ["Ann", "Bob"]
    assert "<b>" not in "".join(title.text for title in figure.layout.annotations)


def test_along_names_there_are_bars(model):
    figure = topoi.plots.topic_shares(model, "authors", topics=[0])
    frame = topoi.share_curve(model, "authors", topics=[0])
    (bars,) = figure.data
    assert bars.type == "bar" and list(bars.y) == frame["mean"].tolist()
    np.testing.assert_allclose(bars.error_y.array, frame["upper"] - frame["mean"])
    np.testing.assert_allclose(bars.error_y.arrayminus, frame["mean"] - frame["lower"])
    stacked = topoi.plots.topic_shares(model, "authors")
    assert stacked.layout.barmode == "stack" and stacked.data[0].error_y.array is None


def test_wrong_kinds_and_topics(model, corpus):
    with pytest.raises(ModelError, match="kind"):
        topoi.plots.topic_shares(model, kind="pie")
    with pytest.raises(NotFoundError, match="no topic 9"):
        topoi.plots.topic_shares(model, topics=[9])
    with pytest.raises(ModelError, match="reads no metadata"):
        topoi.plots.topic_shares(topoi.LDA(2, n_iter=2, random_state=0).fit(corpus))


@pytest.mark.parametrize("measure", ["auto", "share"])
def test_effects(model, measure):
    figure = topoi.plots.effects(model, 1, n=4, measure=measure)
    frame = topoi.topic_effects(model, 1, n=4, measure=measure)
    (dots,) = figure.data
    assert list(dots.x) == frame["effect"].tolist() and dots.marker.color == topic_colour(1)
    np.testing.assert_allclose(dots.error_x.array, frame["upper"] - frame["effect"])
    assert figure.layout.yaxis.autorange == "reversed"
    assert "<b>" not in "".join(topoi.plots.effects(model, 1, "authors").data[0].y)


def test_documents_around_one(regression):
    figure = topoi.plots.link_graph(regression, 3)
    frame = topoi.link_neighbourhood(regression, 3)
    ways, dots, *topics = figure.data
    assert [trace.marker.color for trace in topics] == [topic_colour(k) for k in sorted(set(frame["topic"]))]
    assert len(dots.x) == len(frame) == 5 and list(ways.x).count(None) == 4
    assert list(dots.marker.color) == [topic_colour(k) for k in frame["topic"]]
    assert [(x > 0) - (x < 0) for x in dots.x] == [
        {"itself": 0, "links here": -1}.get(relation, 1) for relation in frame["relation"]
    ]
    assert len(set(zip(dots.x, dots.y, strict=True))) == 5
