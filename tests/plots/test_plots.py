"""Figures hold the numbers that the questions answer."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.plots.figure import topic_colour


@pytest.fixture(scope="module")
def model() -> topoi.LDA:
    rng = np.random.default_rng(0)
    rows = [rng.choice(list("abcdefgh"), 20).tolist() for _ in range(40)]
    corpus = topoi.Corpus.from_tokens(rows, dates=[1990 + d // 4 for d in range(40)])
    return topoi.LDA(9, n_iter=20, random_state=0).fit(corpus)


def test_trends_choose_no_background_topics(model, monkeypatch):
    """Unless there is nothing else."""

    def chosen():
        return [int(line.name.partition(":")[0]) for line in topoi.plots.trends(model).data if line.name]

    before = chosen()
    flags = np.zeros(9, bool)
    flags[before[:2]] = True
    monkeypatch.setattr(import_module("topoi.plots.trends"), "are_background", lambda _: flags)
    assert len(chosen()) == len(before) and not set(chosen()) & set(before[:2])
    flags[:] = True
    assert chosen() == before


def test_lines_are_the_trends(model):
    figure = topoi.plots.trends(model, topics=[2, 5])
    frame = topoi.topic_trends(model)
    for k, band, line in zip((2, 5), figure.data[::2], figure.data[1::2], strict=True):
        mine = frame[frame["topic"] == k]
        assert list(band.y) == mine["upper"].tolist() + mine["lower"].tolist()[::-1]
        assert list(line.x) == mine["year"].tolist() and list(line.y) == mine["share"].tolist()
        assert line.line.color == topic_colour(k)
        assert line.name == f"{k}: {model.topic_labels()[k]}"


def test_lines_of_similar_colours_have_different_dashes():
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 4, dates=[1990 + d for d in range(8)])
    many = topoi.LDA(40, n_iter=2, random_state=0).fit(corpus)
    lines = topoi.plots.trends(many, topics=[13, 34, 5]).data[1::2]
    assert lines[0].line.dash == "solid" and lines[1].line.dash != "solid"
    assert topoi.plots.trends(many, topics=[34]).data[1].line.dash == "solid"


def test_without_a_choice_those_that_move_most(model):
    assert len(topoi.plots.trends(model).data) == 8  # words by chance: no move is clear, and the four largest are shown
    rows = [["a", "b"] * 10 if d % 40 >= d // 8 else ["c", "d"] * 10 for d in range(320)]
    corpus = topoi.Corpus.from_tokens(rows, dates=[1990 + d // 32 for d in range(320)])
    model = topoi.LDA(2, alpha=0.1, n_iter=30, random_state=0).fit(corpus)
    found = topoi.analysis.trends.topic_moves(model, topoi.topic_trends(model))
    rising, falling = (found.loc[found["direction"] == way, "topic"].tolist() for way in (1, -1))
    shown = [int(line.name.partition(":")[0]) for line in topoi.plots.trends(model).data if line.name]
    assert rising and falling and shown == rising[:4] + falling[::-1][:3]
    still = topoi.LDA(3, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["a", "b"]] * 4, dates=[1990] * 4))
    assert len(topoi.plots.trends(still).data) == 6  # lines and bands; one year: nothing moves


def test_other_columns_and_wrong_topics(model):
    assert topoi.plots.trends(model, topics=[0], by="decade").layout.xaxis.title.text == "decade"
    with pytest.raises(NotFoundError, match="no topic 99"):
        topoi.plots.trends(model, topics=[99])


def test_map_has_a_circle_for_each_topic(model):
    circles = topoi.plots.topic_map(model).data[0]
    size = np.array(circles.marker.size)
    n_words = model.topic_sizes()["n_words"].to_numpy()
    np.testing.assert_allclose((size / size.max()) ** 2, n_words / n_words.max())
    assert len(set(zip(circles.x, circles.y, strict=True))) == 9
    with pytest.raises(ModelError, match="at least three topics; this model has 2"):
        topoi.plots.topic_map(topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]))


def test_maps_name_subjects_alone(model, tmp_path, monkeypatch):
    model.save(tmp_path / "nine.topoi")
    stored = topoi.view(tmp_path / "nine.topoi")
    labels = [f"{'background: ' if k % 3 == 0 else ''}name {k}" for k in range(9)]
    monkeypatch.setattr(type(model), "topic_labels", lambda self: labels)
    monkeypatch.setattr(type(stored), "background_flags", lambda self: np.arange(9) % 3 == 0)
    monkeypatch.setattr(type(stored), "topic_labels", lambda self: labels)
    for one in (model, stored):
        named = {note.text for note in topoi.plots.document_map(one).layout.annotations}
        assert named and all(name.startswith("name") for name in named)
        assert [name for name in topoi.plots.topic_map(one).data[0].text if name] == [
            label for label in labels if label.startswith("name")
        ]


def test_names_on_maps_do_not_meet(model, monkeypatch):
    """Where there is room for one name, it is that of the largest topic, or of the one with most documents."""
    monkeypatch.setattr("topoi.plots.map.PLANE", (0, 0))
    monkeypatch.setattr("topoi.plots.documents.PLANE", (0, 0))
    circles = topoi.plots.topic_map(model).data[0]
    assert [k for k, name in enumerate(circles.text) if name] == [int(np.argmax(circles.marker.size))]
    assert len(topoi.plots.document_map(model).layout.annotations) == 1


def test_without_plotly_a_hint(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ModelError, match=r'pip install "topoi\[plots\]"'):
        topoi.plots.trends(model)


def test_correlated_topics_are_neighbours_with_their_intervals() -> None:
    corpus = topoi.CorrelatedTopicModel(4).simulate(60, 20, random_state=0)
    model = topoi.CorrelatedTopicModel(4, n_iter=60, random_state=0).fit(corpus)
    cells = topoi.plots.topic_correlations(model).data[0]
    order = model.topic_order_.tolist()
    assert [int(name.split(":")[0]) for name in cells.x] == order
    assert cells.z[0][1] == pytest.approx(model.correlation_[order[0], order[1]])
    a, b, low, high = cells.customdata[1][2]
    assert (a, b) == (order[1], order[2]) and low < cells.z[1][2] < high


def test_models_without_correlations_are_told_which_has_them() -> None:
    with pytest.raises(topoi.ModelError, match="fit a CorrelatedTopicModel"):
        topoi.plots.topic_correlations(topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]))


def test_groups_tell_both_shares_with_their_intervals():
    rows = [["tax", "cost"] * 5, ["war", "army"] * 5] * 10
    corpus = topoi.Corpus.from_tokens(rows, metadata={"side": ["{a}", "b"] * 10})
    model = topoi.LDA(2, alpha=0.1, n_iter=20, random_state=0).fit(corpus)
    (dots,) = topoi.plots.groups(model, "side").data
    frame = topoi.compare_groups(model, "side")
    names = [f"{name}{end}" for name in ("share", "other_share") for end in ("", "_lower", "_upper")]
    np.testing.assert_allclose(dots.customdata, frame[["lower", "upper", "q_value", *names]])
    assert all(f"%{{customdata[{i}]" in dots.hovertemplate for i in range(9))
    assert "b %{customdata[3]" in dots.hovertemplate and "&#123;a&#125; %{customdata[6]" in dots.hovertemplate


def test_dots_are_the_places_of_documents(model, tmp_path):
    from topoi.drawing.document_layout import document_places

    figure = topoi.plots.document_map(model, n_names=3)
    places = document_places(model)
    assert list(figure.data[0].x) == places[:, 0].tolist() and list(figure.data[0].y) == places[:, 1].tolist()
    assert len(figure.layout.annotations) == 3
    model.save(tmp_path / "nine.topoi")
    stored = topoi.plots.document_map(topoi.view(tmp_path / "nine.topoi"), colour="year")
    assert list(stored.data[0].x) == places[:, 0].tolist()
    assert list(stored.data[0].marker.color) == [1990 + d // 4 for d in range(40)]
    with pytest.raises(ModelError, match="shape"):
        topoi.plots.document_map(model, places=np.zeros((3, 2)))
    with pytest.raises(ModelError, match="n_names"):
        topoi.plots.document_map(model, n_names=-1)
