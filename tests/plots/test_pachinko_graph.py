"""The figure of a pachinko graph: what it shows is what the model says."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.plots.figure import topic_colour

EDGES = [
    ("root", "food"),
    ("root", "health"),
    ("food", "cooking"),
    ("food", "diet"),
    ("health", "diet"),
    ("health", "drugs"),
    ("health", topoi.WORDS),
    ("root", "diet"),
]


def corpus(seed: int = 0) -> topoi.Corpus:
    rng = np.random.default_rng(seed)
    words = [f"{a}{b}" for a, b in itertools.product("abcdef", "xyz")] + ["<b>bad&"]
    return topoi.Corpus.from_tokens([rng.choice(words, 20).tolist() for _ in range(30)])


@pytest.fixture(scope="module")
def four_level() -> topoi.PachinkoAllocation:
    return topoi.PachinkoAllocation(6, 9, n_iter=30, random_state=0).fit(corpus())


@pytest.fixture(scope="module")
def free() -> topoi.PachinkoAllocation:
    return topoi.PachinkoAllocation(dag=topoi.Dag.from_edges(EDGES), n_iter=30, random_state=0).fit(corpus())


def lines(figure):
    return [trace for trace in figure.data if trace.mode == "lines"]


def hovers(figure):
    (points,) = [trace for trace in figure.data if trace.mode == "markers"]
    return list(dict.fromkeys(points.hovertext))


def boxes(figure):
    return {re.search(r"<b>(.*?)</b>", box.hovertext)[1]: box for box in figure.layout.annotations}


def test_strongest_super_topics_and_their_strongest_topics(four_level):
    figure = topoi.plots.pachinko_graph(four_level, n_super=3, n_sub=2)
    edges = four_level.edges()
    root = edges[edges["parent"] == "root"].sort_values("n_words", ascending=False, kind="stable")
    supers = root["child"].tolist()[:3]
    below = edges[edges["parent"].isin(supers)].sort_values("alpha", ascending=False, kind="stable")
    below = below.groupby("parent").head(2)
    assert set(boxes(figure)) == {"root", *supers, *below["child"]}
    assert len(lines(figure)) == 3 + 6
    found = {re.sub("</?b>", "", text).partition("<br>")[0]: text for text in hovers(figure)}
    assert set(found) == {f"{row.parent} → {row.child}" for row in below.itertuples()} | {f"root → {s}" for s in supers}
    row = next(below.itertuples())
    text = found[f"{row.parent} → {row.child}"]
    assert f"alpha {row.alpha:.4g}" in text and f"{row.share:.1%}" in text and f"{row.n_words:,} words" in text
    # As thick as alpha is large.
    widths = sorted((line.line.width for line in lines(figure)[3:]), reverse=True)
    alpha = np.sort(below["alpha"])[::-1]
    np.testing.assert_allclose(widths, np.maximum(9.0 * alpha / alpha[0], 0.6))


def test_topics_wear_their_colours_and_super_topics_none(four_level):
    figure = topoi.plots.pachinko_graph(four_level, n_super=2, n_sub=1)
    for name, box in boxes(figure).items():
        if name.startswith("sub"):
            k = int(name.split()[1])
            rgb = ",".join(str(int(topic_colour(k)[i : i + 2], 16)) for i in (1, 3, 5))
            assert box.bgcolor.startswith(f"rgba({rgb},")
            words = four_level.top_words(10, topic=k)["word"]
            assert box.hovertext.endswith(", ".join(w.replace("&", "&amp;").replace("<b>", "&lt;b&gt;") for w in words))
        else:
            assert box.bgcolor.startswith("rgba(128,128,128,")


def test_colours_of_a_stored_model_are_those_of_the_browser(tmp_path):
    model = topoi.LDA(4, n_iter=5, random_state=0).fit(corpus())
    model.save(tmp_path / "s.topoi")
    view = topoi.view(tmp_path / "s.topoi")
    colours = topoi.plots.topic_map(view).data[0].marker.color
    hues = view.topic_hues()
    assert len(set(colours)) == 4
    assert colours == tuple(topoi.plots.figure.topic_colours(view, range(4)).values())
    assert (colours == tuple(topic_colour(k) for k in range(4))) == (
        [hues[k] for k in range(4)] == [round(topoi.drawing.colours.numbered_hue(k)) for k in range(4)]
    )


def test_weak_edges_are_left_out_but_never_the_strongest(four_level):
    edges = four_level.edges()
    below = edges[edges["parent"] != "root"]
    limit = float(below["share"].quantile(0.8))
    kept = below[(below["share"] >= limit) | (below["share"] == below.groupby("parent")["share"].transform("max"))]
    figure = topoi.plots.pachinko_graph(four_level, n_super=6, n_sub=9, min_share=limit)
    assert len(lines(figure)) == 6 + len(kept)


def test_a_node_among_its_parents_and_children(four_level):
    found = boxes(topoi.plots.pachinko_graph(four_level, node="super 3"))
    assert set(found) == {"root", "super 3", *(f"sub {k}" for k in range(9))}
    assert found["super 3"].borderwidth == 2
    leaf = topoi.plots.pachinko_graph(four_level, node="sub 4", n_words=3)
    assert {f"super {s}" for s in range(6)} | {"sub 4"} <= set(boxes(leaf))
    words = four_level.top_words(6, topic=4)
    assert [box.text for box in leaf.layout.annotations][-6:] == [
        w.replace("&", "&amp;").replace("<b>", "&lt;b&gt;") for w in words["word"]
    ]
    widths = [line.line.width for line in lines(leaf)][-6:]
    np.testing.assert_allclose(widths, np.maximum(9.0 * words["probability"] / words["probability"].max(), 0.6))
    assert boxes(topoi.plots.pachinko_graph(four_level, node=3)).keys() == {
        "root", "super 2", *(f"sub {k}" for k in range(9))
    }  # fmt: skip
    with pytest.raises(NotFoundError, match="no node 'super 99'"):
        topoi.plots.pachinko_graph(four_level, node="super 99")


def test_a_graph_without_super_topics():
    model = topoi.PachinkoAllocation(dag=topoi.Dag.from_levels(3), n_iter=5, random_state=0).fit(corpus())
    figure = topoi.plots.pachinko_graph(model)
    assert set(boxes(figure)) == {"root", "topic 0", "topic 1", "topic 2"}
    assert figure.layout.title.text == "The root and the topics with most words"


def test_any_graph(free):
    figure = topoi.plots.pachinko_graph(free)
    found = boxes(figure)
    assert set(found) == set(free.dag_.nodes)
    assert "drawn here (alpha" in found["health"].hovertext
    x = {name: box.x for name, box in found.items()}
    assert x["root"] < x["food"] == x["health"] < x["diet"] == x["drugs"]
    assert len(lines(figure)) == 7
    (skipping,) = [line for line in lines(figure) if len(line.x) > 17]
    rows = {name: box.y for name, box in found.items()}
    passing = [y for px, y in zip(skipping.x, skipping.y, strict=True) if abs(px - x["food"]) < 1]
    assert passing and all(abs(y - rows[name]) > 16 for y in passing for name in ("food", "health"))


@pytest.mark.parametrize("width", [360, 960])
def test_boxes_and_texts_fit(four_level, width):
    figure = topoi.plots.pachinko_graph(four_level, n_super=6, n_sub=5, width=width)
    assert figure.layout.width == width
    spots = [(box.x, box.y, box.width + 8) for box in figure.layout.annotations]
    for (x, y, w), (a, b, _) in itertools.combinations(sorted(spots), 2):
        assert a >= x + w or abs(y - b) >= 28
    assert max(x + w for x, _, w in spots) <= width - 32 + 0.01


def test_what_cannot_be_drawn(four_level):
    lda = topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]])
    with pytest.raises(ModelError, match="LDA has no graph of topics; fit a PachinkoAllocation"):
        topoi.plots.pachinko_graph(lda)
    with pytest.raises(ModelError, match="min_share is 2"):
        topoi.plots.pachinko_graph(four_level, min_share=2)
    with pytest.raises(ModelError, match="n_super"):
        topoi.plots.pachinko_graph(four_level, n_super=0)
    with pytest.raises(ModelError, match="at least 320 pixels"):
        topoi.plots.pachinko_graph(four_level, width=100)
