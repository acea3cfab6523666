"""The picture of a graph shows every node or says how many, and is harmless."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import topoi
from topoi.errors import ModelError

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(picture).iter(f"{SVG}text")]


def test_small_graphs_are_drawn_whole():
    edges = [("root", "a"), ("root", "b"), ("a", "x"), ("a", "y"), ("b", "y"), ("root", "y"), ("b", topoi.WORDS)]
    dag = topoi.Dag.from_edges(edges)
    picture = ET.fromstring(dag.picture())
    assert texts(dag.picture())[:-1] == list(dag.nodes)
    assert len(list(picture.iter(f"{SVG}path"))) == 6
    assert picture.get("aria-label") == repr(dag)
    filled = {
        group.findtext(f"{SVG}title").partition(":")[0]
        for group in picture.iter(f"{SVG}g")
        if any(rect.get("fill") != "none" for rect in group.findall(f"{SVG}rect"))
    }
    assert filled == set(dag.topics)


def test_an_edge_that_skips_a_level_runs_past_its_nodes():
    dag = topoi.Dag.from_edges([("root", "a"), ("a", "x"), ("root", "x")])
    root = ET.fromstring(dag.picture())
    (box,) = [
        (float(r.get("y")), float(r.get("y")) + float(r.get("height")))
        for g in root.iter(f"{SVG}g")
        if (g.findtext(f"{SVG}title") or "").startswith("a:")
        for r in g.findall(f"{SVG}rect")
    ]
    (long,) = [p.get("d") for p in root.iter(f"{SVG}path") if "H" in p.get("d")]
    level_at = float(re.search(r" ([\d.]+)H", long)[1])
    assert not box[0] <= level_at <= box[1]


def test_large_levels_are_stacks():
    picture = topoi.Dag.from_levels(50, 100).picture()
    assert {"50 nodes", "100 topics", "50 edges", "5,000 edges", "sub 0 … sub 99"} <= set(texts(picture))
    assert len(picture) < 5000
    mixed = texts(topoi.Dag.from_levels(3, 30, 2).picture())
    assert {"30 nodes", "90 edges", "60 edges", "level 1 topic 2"} <= set(mixed)
    assert "super 49" in texts(topoi.Dag.from_levels(50, 100).picture(most=100))
    with pytest.raises(ModelError, match="most"):
        topoi.Dag.from_levels(2).picture(most=0)


def test_names_are_escaped_and_cut():
    bad = "<script>alert(1)</script>\0" + 100 * "long "
    dag = topoi.Dag.from_edges([("root", bad), ("root", '" onload="x')])
    picture = dag.picture()
    assert "<script" not in picture
    assert any(text.endswith("…") for text in texts(picture))
    assert not [name for node in ET.fromstring(picture).iter() for name in node.attrib if name.startswith("on")]
    assert any(bad.replace("\0", "") in (t.text or "") for t in ET.fromstring(picture).iter(f"{SVG}title"))


def test_the_documentation_shows_this_picture():
    edges = [("root", "food"), ("root", "health"), ("food", "cooking"), ("food", "diet"), ("health", "diet")]
    dag = topoi.Dag.from_edges([*edges, ("health", "drugs"), ("health", topoi.WORDS)])
    assert (Path(__file__).parents[2] / "docs" / "pachinko-dag.svg").read_text(encoding="utf-8") == dag.picture()


def test_notebooks_and_files():
    dag = topoi.Dag.from_levels(2)
    assert dag._repr_html_() == dag.picture()._repr_svg_() == str(dag.picture())
    # What a page says of its own colours must hold: rules are for a file of its own alone.
    (style,) = [node.text for node in ET.fromstring(dag.picture()).iter(f"{SVG}style")]
    assert all(":root" in rule for rule in re.findall(r"[^{}]+(?=\{[^{}]*\})", style))
