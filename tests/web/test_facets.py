"""Documents chosen by filters: what passes, the counts beside every value, and addresses made to confuse."""

from __future__ import annotations

import csv
import io
from collections import Counter
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.store.facets import DocumentColumns, TopicCells, make_column, value_text
from topoi.web.links import Links, name_of
from topoi.web.pages.facets import _years
from topoi.web.pages.selection import Selection, parameter_of
from web.addresses import AUTHORS_ONLY, LDA, MAIN
from web.conftest import client_of
from web.samples import HOSTILE, SCRIPT, fit, ordinary_corpus


def get(client, page, slug=MAIN):
    answer = client.get(f"/m/{slug}/{page}")
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


def numbers(view):
    return [row["document"]["document_id"] for row in view["documents"]]


def everything(client, query, slug=MAIN):
    """Numbers of all documents that pass, over all pages."""
    first = get(client, f"documents.json?{query}", slug)
    pages = [get(client, f"documents.json?{query}&page={n}", slug) for n in range(1, first["n_pages"] + 1)]
    found = [number for view in pages for number in numbers(view)]
    assert len(found) == len(set(found)) == first["n_found"]
    return found


def test_filters_are_what_they_say(client, corpus):
    frame = corpus.documents
    assert set(everything(client, "from=1992&to=1994")) == set(np.flatnonzero(frame["year"].between(1992, 1994)))
    assert set(everything(client, "venue=ACL&year=1993")) == set(
        np.flatnonzero((frame["venue"] == "ACL") & (frame["year"] == 1993))
    )
    name = corpus.authors[0]
    own = {
        d
        for d in range(60)
        if name in [corpus.authors[a] for a in corpus.doc_author[slice(*corpus.doc_author_start[d : d + 2])]]
    }
    assert set(everything(client, "author=0")) == own
    both = everything(client, "author=0&venue=NIPS&to=1995")
    assert set(both) == {d for d in own if frame["venue"][d] == "NIPS" and frame["year"][d] <= 1995}


def test_values_of_one_column_are_alternatives(client):
    assert len(everything(client, "venue=ACL&venue=NIPS")) == 60
    assert everything(client, "in.venue=ACL") == everything(client, "venue=ACL")


def test_words_and_filters_together(client, corpus):
    found = everything(client, "q=star&venue=ACL")
    expected = {
        d for d in range(60) if "star" in corpus.texts[d].lower().split() and corpus.documents["venue"][d] == "ACL"
    }
    assert set(found) >= expected  # prefixes and titles too
    assert {corpus.documents["venue"][d] for d in found} == {"ACL"}
    assert get(client, "documents.json?q=star&venue=ACL")["documents"][0]["snippet"]


def test_a_topic_is_a_share_of_the_words(stored, client):
    model = topoi.view(stored, "who & what/é")
    counts = model.chains_[0].documents.counts(np.arange(60))
    share = counts / counts.sum(axis=1, keepdims=True)
    for topic in range(6):
        found = everything(client, f"topic={topic}")
        assert set(found) == set(np.flatnonzero(np.round(share[:, topic], 6) >= 0.1))
        shown = get(client, f"documents.json?topic={topic}")
        assert shown["sort"] == "topic"
        of_topic = [row["share"] for row in shown["documents"]]
        assert of_topic == sorted(of_topic, reverse=True)
        assert of_topic == pytest.approx(share[numbers(shown), topic], abs=1e-4)
    assert set(everything(client, "topic=1&least=0.5")) == set(np.flatnonzero(share[:, 1] >= 0.5))


@pytest.mark.parametrize(
    "query", ["", "from=1992&to=1996", "venue=ACL", "q=star", "author=1", "topic=2", "topic=2&venue=NIPS"]
)
def test_a_count_is_what_its_link_finds(client, query):
    facets = get(client, f"documents.json?{query}")["facets"]
    join = f"{query}&" if query else ""
    for row in facets["topics"][:4]:
        assert row["n_documents"] == len(everything(client, f"{join}topic={row['topic']['topic']}"))
    for row in facets["authors"][:4]:
        assert row["n_documents"] == len(everything(client, f"{join}author={row['author_id']}"))
    rest = "&".join(part for part in query.split("&") if not part.startswith(("from", "to=")))
    for row in facets["years"][:4]:
        assert row["n_documents"] == len(everything(client, f"{rest}&from={row['first']}&to={row['last']}"))
    rest = "&".join(part for part in query.split("&") if not part.startswith("venue"))
    for column in facets["columns"]:
        for row in column["values"]:
            assert row["n_documents"] == len(everything(client, f"{rest}&{column['parameter']}={row['value']}"))
    assert sum(row["n_documents"] for row in facets["years"]) == len(
        everything(client, "&".join(p for p in query.split("&") if not p.startswith(("from", "to="))))
    )


def test_a_view_finds_the_same_documents(client, stored):
    view = topoi.view(stored, name_of(MAIN))
    for query, filters in (
        ("q=star&venue=ACL", {"words": "star", "values": {"venue": ["ACL"]}}),
        ("topic=1&least=0.05&from=1992&to=1995", {"topics": [1], "least": 0.05, "first": 1992, "last": 1995}),
        ("author=1", {"authors": [1]}),
        ("author=Kepler,+J", {"authors": ["Kepler, J"]}),
    ):
        found = view.documents_with(**filters).tolist()
        assert found and found == sorted(everything(client, query)), query
    assert view.documents_with(words="?!").tolist() == []
    with pytest.raises(NotFoundError, match="column 'nosuch'.*venue"):
        view.documents_with(values={"nosuch": ["1"]})
    with pytest.raises(NotFoundError, match="author 99"):
        view.documents_with(authors=[99])
    with pytest.raises(NotFoundError, match="no topic 99"):
        view.documents_with(topics=[99])
    with pytest.raises(ModelError, match="first is 'early'; pass a year"):
        view.documents_with(first="early")


def test_years_end_where_the_documents_do():
    columns = SimpleNamespace(by_year=lambda mask: (list(range(1787, 2027)), [1] * 240))
    context = SimpleNamespace(snapshot=SimpleNamespace(columns=columns))
    years = _years(context, Selection(), SimpleNamespace(but_years=None))
    assert (years[0]["first"], years[0]["last"], years[1]["first"]) == (1787, 1789, 1790)
    assert (years[-1]["first"], years[-1]["last"]) == (2020, 2026)
    assert sum(row["n_documents"] for row in years) == 240


def test_orders(client, corpus):
    years, lengths = corpus.documents["year"].to_numpy(), np.diff(corpus.doc_start)
    newest = everything(client, "sort=newest&venue=ACL")
    assert (np.diff(years[newest]) <= 0).all()
    oldest = everything(client, "sort=oldest")
    assert (np.diff(years[oldest]) >= 0).all()
    longest = everything(client, "sort=longest")
    assert (np.diff(lengths[longest]) <= 0).all()
    assert everything(client, "sort=file") == everything(client, "") == list(range(60))
    # An order that makes no sense without a topic is the default one.
    assert get(client, "documents.json?sort=topic")["sort"] == "file"


def test_chosen_filters_can_be_taken_off(client):
    query = "topic=1&author=2&from=1991&to=1996&venue=ACL&q=star"
    text = client.get(f"/m/{MAIN}/documents?{query}").text
    chosen = get(client, f"documents.json?{query}")["facets"]["chosen"]
    assert [one["parameter"] for one in chosen] == ["q", "topic", "author", "from", "venue"]
    assert text.count("take this filter off") == 5
    for left in ("author=2&amp;from=1991", "topic=1&amp;from=1991"):
        assert left in text


def test_a_page_says_what_it_shows(client):
    view = get(client, "documents.json?author=0&year=1990&venue=ACL")
    assert view["title"].endswith("ACL, 1990") and view["year"] == 1990
    assert get(client, "documents.json")["title"] == "all documents"


def test_further_pages_keep_the_filters(client):
    text = client.get(f"/m/{MAIN}/documents?from=1990&to=1999&venue=ACL&venue=NIPS").text
    assert "from=1990&amp;to=1999&amp;venue=ACL&amp;venue=NIPS&amp;page=2" in text


@pytest.mark.parametrize("query", [
    "topic=-1", "topic=x", "topic=1e3", "topic=99999999999", "from=x", "to=1e9", "year=999999999",
    "least=0", "least=nan", "least=x", "q=" + "x" * 201, "&".join(f"topic={k}" for k in range(11)),
    "&".join(f"venue={k}" for k in range(11)), "venue=" + "x" * 1001, "&".join("z=1" for _ in range(61)),
    "sort=sideways", "page=0",
])  # fmt: skip
def test_what_cannot_be_asked_is_said(client, query):
    answer = client.get(f"/m/{MAIN}/documents.json?{query}")
    assert answer.status_code == 400
    assert answer.json()["kind"] == "error" and len(answer.json()["detail"]) > 10


@pytest.mark.parametrize("query", ["topic=6", "author=9", "author=2147483647", "author=x", "author=%00", "author=%25"])
def test_what_is_not_there_is_not_found(client, query):
    assert client.get(f"/m/{MAIN}/documents.json?{query}").status_code == 404


def test_authors_by_name(client):
    assert get(client, "documents.json?author=astrom+eva")["facets"]["chosen"][0]["label"] == "Åström, Eva"
    assert everything(client, "author=JORDAN,%20M") == everything(client, "author=Jordan+M")
    answer = client.get(f"/m/{MAIN}/documents.json?author=jordan")
    assert answer.status_code == 404 and "Jordan, M" in answer.json()["detail"]


def test_unknown_columns_are_named(client):
    view = get(client, "documents.json?veneu=ACL&in.x=1")
    assert view["facets"]["unknown"] == ["veneu", "in.x"] and view["n_found"] == 60
    text = client.get(f"/m/{MAIN}/documents?veneu=ACL&%3Cscript%3E=1").text
    assert "no column" in text and "<script>" not in text.replace('<script src="/static/', "")


def test_nothing_found_leads_on(client):
    text = client.get(f"/m/{MAIN}/documents?topic=1&year=3000").text
    assert "No document passes" in text and "least=0.01" in text


def test_columns_with_the_names_of_parameters(tmp_path):
    metadata = {
        "topic": ["a", "b"] * 30,
        "page": ["1", "2"] * 30,
        "a.b": ["x", "y"] * 30,
        "tags": [["u", "v"], ["v"]] * 30,
    }
    corpus = ordinary_corpus(60, metadata=metadata)
    fit(topoi.LDA, corpus, 3, alpha=0.1).save(tmp_path / "names.topoi", name="m")
    client = client_of(tmp_path / "names.topoi")
    columns = {one["name"]: one for one in get(client, "documents.json", "m")["facets"]["columns"]}
    assert columns["topic"]["parameter"] == "in.topic" and columns["a.b"]["parameter"] == "in.a.b"
    assert everything(client, "in.topic=a&in.page=1", "m") == list(range(0, 60, 2))
    assert everything(client, "in.a.b=y", "m") == list(range(1, 60, 2))
    assert len(everything(client, "tags=u", "m")) == 30 and len(everything(client, "tags=v", "m")) == 60
    assert {row["value"]: row["n_documents"] for row in columns["tags"]["values"]} == {"u": 30, "v": 60}


def test_hostile_values_are_values(hostile):
    view = get(hostile, "documents.json")
    column = view["facets"]["columns"][0]
    assert column["name"] == SCRIPT and {row["value"] for row in column["values"]} <= set(HOSTILE)
    for row in column["values"]:
        query = f"{quote(column['parameter'])}={quote(row['value'])}"
        assert get(hostile, f"documents.json?{query}")["n_found"] == row["n_documents"] == 3
        page = hostile.get(f"/m/{MAIN}/documents?{query}")
        assert page.status_code == 200
        assert "<script>" not in page.text and "onerror=alert" not in page.text.replace(
            "&lt;img src=x onerror=alert", ""
        )


@pytest.mark.parametrize("slug", [LDA, AUTHORS_ONLY])
def test_models_without_authors_or_topics_have_the_other_facets(client, slug):
    facets = get(client, "documents.json?venue=ACL", slug)["facets"]
    assert facets["years"] and facets["authors"] and facets["columns"]
    assert bool(facets["topics"]) == (slug == LDA)


@pytest.mark.parametrize("table", ["documents", "topics", "authors", "years", "values"])
def test_tables(client, table):
    answer = client.get(f"/m/{MAIN}/documents.csv?table={table}&venue=ACL")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert rows and "is_chosen" not in rows[0]
    if table == "values":
        assert {(row["column"], row["value"], row["n_documents"]) for row in rows} == {
            ("venue", "ACL", "30"),
            ("venue", "NIPS", "30"),
        }


def test_metadata_values_are_numbered_once():
    column = make_column(
        "tags",
        topoi.Corpus.from_tokens([["a"]] * 3, metadata={"tags": [["x", "x", "y"], ["y"], None]}).documents["tags"],
    )
    assert column.counts(np.ones(3, bool)).tolist() == [1, 2]
    assert value_text(float("nan")) is None and value_text("x" * 500) is None and value_text(2.5) == "2.5"
    assert (
        make_column("none", topoi.Corpus.from_tokens([["a"]] * 2, metadata={"none": [None, None]}).documents["none"])
        is None
    )


def test_columns_and_cells_agree_with_the_corpus(stored, corpus):
    columns = DocumentColumns(topoi.open_store(stored))
    pairs = Counter(corpus.authors[a] for a in corpus.doc_author)
    assert columns.author_counts(np.ones(60, bool)).tolist() == [pairs[name] for name in corpus.authors]
    last = [
        max(
            corpus.documents["year"][d]
            for d in range(60)
            if a in corpus.doc_author[slice(*corpus.doc_author_start[d : d + 2])]
        )
        for a in range(9)
    ]
    assert columns.last_years.tolist() == last
    cells = TopicCells(topoi.view(stored, "four topics").chains_[0])
    assert cells.counts(columns.within(1990, 1991), 0.1).sum() == sum((cells.of(k)[:12] >= 0.1).sum() for k in range(4))


def test_addresses_of_selections():
    assert Links("m").groups_of({"topic": ["3"], "page": ["2"]}) == "/m/m/groups?a.topic=3"
    assert parameter_of("in.x") == "in.in.x"
    chosen = Selection(topics=(1,), first=1990, last=1990, values=(("venue", ("A", "B")),), least=0.5)
    assert chosen.parameters("b.") == {"b.topic": [1], "b.year": 1990, "b.least": 0.5, "b.venue": ["A", "B"]}
    assert not Selection(least=0.5) and chosen
