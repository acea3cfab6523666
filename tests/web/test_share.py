"""The line at the foot of pages: Python that gives the numbers of each kind of page, and how to cite a model."""

from __future__ import annotations

import html as markup
import re
import shutil

import pandas as pd
import pytest

import topoi
from topoi.web.links import name_of
from topoi.web.pages import KINDS
from web.addresses import AUTHORS_ONLY, LDA, MAIN, PAGES, PRIVATE, TOPICLESS, html, twin
from web.conftest import client_of

# A change is tried and left or kept: it has no numbers of its own before that. A table of submissions is a file of the
# reader's, whose place nobody knows.
WITHOUT = {"change", "submissions"}
NEAR = {"rel": 1e-6, "abs": 1e-9}


def lines_on(client, slug: str, page: str) -> str | None:
    """The lines of Python that a page shows."""
    text = client.get(f"/m/{slug}/{html(page)}").text
    found = re.search(r'<pre id="python-lines"[^>]*>(.*?)</pre>', text, re.S)
    return markup.unescape(found[1]) or None if found else None


def run(lines: str) -> object:
    """The value of the last line, after the others."""
    *before, last = lines.split("\n")
    assert before[0] == "import topoi" and before[1].startswith("model = topoi.view(") and len(before) == 2
    known: dict[str, object] = {}
    exec("\n".join(before), known)
    return eval(last, known)


def column(rows, name):
    return [row[name] for row in rows]


def check_overview(view, value):
    if not view["topics"]:
        assert value.n_documents == view["collection"]["n_documents"]
        return
    by_topic = value.set_index("topic")
    for one in view["topics"]:
        row = by_topic.loc[one["topic"]]
        assert [one["share"], one["lower"], one["upper"]] == pytest.approx([row.share, row.lower, row.upper], **NEAR)


def check_topic(view, value):
    assert column(view["words"], "word") == value["word"].tolist()
    assert column(view["words"], "probability") == pytest.approx(value["probability"].tolist(), **NEAR)


def check_author(view, value):
    if view["words"]:
        assert [(row[1], row[2]) for row in value] == [(one["word"], one["n_tokens"]) for one in view["words"]]
    elif isinstance(value, pd.DataFrame):
        shown = value.head(len(view["topics"]))
        assert [one["topic"]["topic"] for one in view["topics"]] == shown["topic"].tolist()
        for name, there in (("share", "probability"), ("lower", "lower"), ("upper", "upper")):
            assert column(view["topics"], name) == pytest.approx(shown[there].tolist(), **NEAR)
    else:
        assert view["topics"]
        for one in view["topics"]:
            assert one["share"] == pytest.approx(value[one["topic"]["topic"]] / value.sum(), **NEAR)


def check_authors(view, value):
    rows = value.values.tolist() if isinstance(value, pd.DataFrame) else value
    found = {int(row[0]): (row[1], int(row[2])) for row in rows}
    assert found == {one["author_id"]: (one["author"], one["n_documents"]) for one in view["authors"]}


def check_document(view, value):
    if not view["topics"]:
        assert value[0][0] == view["document"]["document_id"]
        return
    shares, labels = value if isinstance(value, tuple) else (None, value)
    if shares is not None:
        shown = shares.head(len(view["topics"]))
        for name, there in (("share", "share"), ("lower", "lower"), ("upper", "upper")):
            given = shown[there if there in shown else "probability"].tolist()
            assert column(view["topics"], name) == pytest.approx(given, **NEAR)
    known = [piece for piece in view["pieces"] if "topic" in piece]
    assert column(known, "topic") == labels["topic"].tolist()
    assert column(known, "p") == pytest.approx(labels["topic_probability"].tolist(), abs=6e-5)


def check_documents(view, value):
    ids = value["document_id"].tolist() if isinstance(value, pd.DataFrame) else [row[0] for row in value]
    assert ids == [row["document"]["document_id"] for row in view["documents"]]


def check_word(view, value):
    if not view["topics"]:
        assert (value[0][0], value[0][2]) == (view["word"]["word_id"], view["word"]["n_tokens"])
        return
    shown = value.head(len(view["topics"]))
    assert column(view["topics"], "probability") == pytest.approx(shown["probability"].tolist(), **NEAR)


def check_trends(view, value):
    assert view["series"]
    for one in view["series"]:
        own = value[value["topic"] == one["topic"]["topic"]].sort_values(view["by"])
        for name in ("share", "lower", "upper"):
            assert one[name] == pytest.approx(own[name].tolist(), **NEAR)


def check_groups(view, value):
    by_topic = value.set_index("topic")
    for one in view["differences"]:
        row = by_topic.loc[one["topic"]["topic"]]
        assert one["difference"] == pytest.approx(row["difference"], **NEAR)
        assert one["p_value"] == pytest.approx(row["p_value"], **NEAR)


def check_compare(view, value):
    assert column(view["pairs"], "shared") == pytest.approx(value["shared"].tolist(), **NEAR)
    assert column(view["pairs"], "distance") == pytest.approx(value["distance"].tolist(), **NEAR)


def check_models(view, value):
    assert column(view["models"], "name") == value["name"].tolist()[::-1]
    assert column(view["models"], "seed") == value["seed"].tolist()[::-1]


def check_history(view, value):
    assert len(value) == view["n_edits"]


def check_structure(view, value):
    known = set(zip(value["alpha"].round(9), value["n_words"], strict=True))
    assert view["edges"]
    assert all((round(edge["alpha"], 9), edge["n_tokens"]) in known for edge in view["edges"])


def check_node(view, value):
    assert column(view["documents"], "share") == pytest.approx(value["share"].tolist(), **NEAR)
    assert column(view["documents"], "lower") == pytest.approx(value["lower"].tolist(), **NEAR)


def check_metadata(view, value):
    n_groups = len(view["groups"])
    table = value["mean"].to_numpy().reshape(n_groups, len(view["at"]), -1)
    for i, group in enumerate(view["groups"]):
        for curve in group["curves"]:
            assert curve["mean"] == pytest.approx(table[i, :, curve["topic"]["topic"]].tolist(), abs=1e-6)


def check_search(view, value):
    score = dict(zip(value["document"], value["score"], strict=True))
    scored = [row for row in view["documents"] if row["score"] is not None]
    assert scored
    for row in scored:
        assert row["score"] == pytest.approx(score[row["document"]["document_id"]], abs=1e-6)


def check_parse(view, value):
    result = view["result"]
    if view["who"] == "any":
        shown = value.head(len(result["likely"]))
        assert column(result["likely"], "probability") == pytest.approx(shown["probability"].tolist(), **NEAR)
        return
    known = [piece for piece in result["pieces"] if "topic" in piece]
    assert column(known, "topic") == value["topic"].tolist()
    assert column(known, "p") == pytest.approx(value["topic_probability"].tolist(), abs=6e-5)


def check_map(view, value):
    assert value.shape == (view["n_documents"], 2)
    assert int((value == value).all(axis=1).sum()) == view["n_placed"]


def check_names(view, value):
    about, labels = value
    assert about == (view["title"], view["sentence"])
    assert labels == {one["topic"]: one["label"] for one in view["topics"] if one["label"]}


def check_together(view, value):
    assert column(view["pairs"], "n_documents") == value["n_documents"].tolist()
    assert column(view["pairs"], "times") == pytest.approx(value["times"].tolist(), abs=1e-4)
    pairs = [(row["topic"]["topic"], row["other"]["topic"]) for row in view["pairs"]]
    assert pairs == list(zip(value["topic"], value["other"], strict=True))


def check_oddities(view, value):
    assert [row["document"]["document_id"] for row in view["overall"]] == value["document"].tolist()
    for name in ("perplexity", "times"):
        assert column(view["overall"], name) == pytest.approx(value[name].tolist(), **NEAR)


def check_reviewers(view, value):
    assert column(view["reviewers"], "author") == value["author"].tolist()
    assert column(view["reviewers"], "score") == pytest.approx(value["score"].tolist(), **NEAR)


CHECKS = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}


def check_pages(client, path, slug, pages, monkeypatch) -> set[str]:
    """Run the lines of some pages, compare with their JSON views, and return the kinds that had lines."""
    monkeypatch.chdir(path.parent)
    seen = set()
    for page in pages:
        lines = lines_on(client, slug, page)
        answer = client.get(f"/m/{slug}/{twin(page, 'json')}")
        if lines is None or answer.status_code != 200:
            continue
        view = answer.json()
        assert f"topoi.view({path.name!r}, {name_of(slug)!r})" in lines
        try:
            CHECKS[view["kind"]](view, run(lines))
        except Exception as error:
            raise AssertionError(f"{slug}/{page}\n{lines}\n{error}") from error
        seen.add(view["kind"])
    return seen


def test_the_lines_of_every_page_give_its_numbers(client, stored, monkeypatch):
    seen = check_pages(client, stored, MAIN, [*PAGES, "parse?text=A+star&who=any"], monkeypatch)
    kinds = {"overview", "topic", "author", "authors", "document", "documents", "word", "trends", "groups", "compare"}
    assert seen == kinds | {"history", "models", "search", "parse", "reviewers", "names", "map", "together", "oddities"}
    sides = [
        "a.venue=ACL&b.venue=NIPS",
        "a.author=1&a.from=1990&a.to=1995",
        "b.q=sta&b.from=1992",
        "a.topic=1&a.least=0.05&b.topic=2",
    ]
    for each in sides:
        assert check_pages(client, stored, MAIN, [f"groups?{each}"], monkeypatch) == {"groups"}, each
    assert check_pages(client, stored, LDA, [f"groups?{sides[1]}"], monkeypatch) == {"groups"}
    assert check_pages(client, stored, LDA, ["author/0", "document/3", "overview"], monkeypatch) >= {"author"}
    assert check_pages(client, stored, PRIVATE, ["author/0", "document/3"], monkeypatch) >= {"author"}
    assert check_pages(client, stored, AUTHORS_ONLY, TOPICLESS, monkeypatch) >= {"author", "document", "word"}


def test_lines_of_graphs_metadata_and_changes(graphed, featured, path, monkeypatch, tmp_path):
    graphs = client_of(graphed)
    inner = graphs.get("/m/four/structure.json").json()["super_topics"][0]["node"]["node"]
    assert check_pages(graphs, graphed, "four", ["structure", f"structure/{inner}", "document/1"], monkeypatch) == {
        "structure",
        "node",
        "document",
    }
    metadata = client_of(featured)
    for slug in ("regression", "kernel"):
        pages = ["metadata", "metadata?bands=document&topic=1", "document/1", "metadata?value=Kepler,+J&by=authors"]
        assert "metadata" in check_pages(metadata, featured, slug, pages, monkeypatch)
    changed = shutil.copy(path, tmp_path / "changed.topoi")
    topoi.open_store(changed).edit(name_of(LDA)).rename(0, "gold").commit()
    assert check_pages(client_of(changed), tmp_path / "changed.topoi", LDA, ["history"], monkeypatch) == {"history"}


def test_every_kind_of_page_has_lines():
    assert {kind for kind, page in KINDS.items() if page.python is None} == WITHOUT
    assert set(CHECKS) >= {kind for kind, page in KINDS.items() if page.python is not None}


def test_a_model_can_be_cited(client, stored):
    text = client.get(f"/m/{MAIN}/trends").text
    cited = markup.unescape(re.search(r'<p id="cite-text">(.*?)</p>', text, re.S)[1])
    saved = topoi.open_store(stored).models().set_index("name").loc[name_of(MAIN)]
    for part in ("Small collection", name_of(MAIN), saved["created"][:10], f"topoi {saved['topoi_version']}"):
        assert part in cited
    assert "seed 1" in cited and "6 topics" in cited and "alpha 0.1" in cited
    entry = markup.unescape(re.search(r'<pre id="cite-bibtex"[^>]*>(.*?)</pre>', text, re.S)[1])
    assert entry.startswith("@misc{small-collection-topoi-") and r"who \& what/é" in entry
    assert entry.count("{") == entry.count("}")


def test_the_share_line_is_on_every_page_and_escaped(client, hostile):
    for page in PAGES:
        text = client.get(f"/m/{MAIN}/{html(page)}").text
        assert 'id="share-link"' in text and "Link to this page" in text, page
    for number in range(10):
        text = hostile.get(f"/m/{LDA}/document/{number}").text
        assert "<script>alert" not in text and "<img src=x" not in text
    assert 'id="share-link"' not in client.get(f"/m/{MAIN}/topic/99").text
