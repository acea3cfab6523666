"""The command line and the browser list the same topics, words and authors in the same order."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

import topoi
from topoi.cli.main import main
from topoi.web.links import name_of
from web.addresses import LDA, MAIN, PRIVATE
from web.conftest import client_of


@pytest.fixture
def marked(path):
    """A store of one's own in which the largest topic of each model is one of connecting words."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE topic SET glue = 0")
        largest = "SELECT max(t.share) FROM topic AS t WHERE t.model_id = topic.model_id"
        connection.execute(f"UPDATE topic SET glue = 1 WHERE share = ({largest})")
    return path


@pytest.fixture
def ask(marked, capsys):
    def rows(verb, *arguments):
        capsys.readouterr()
        assert main([verb, str(marked), *map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return rows


@pytest.mark.parametrize("slug", [MAIN, PRIVATE, LDA])
def test_topics(marked, ask, slug):
    client = client_of(marked)
    told, shown = ask("topics", "--name", name_of(slug)), client.get(f"/m/{slug}/overview.json").json()["topics"]
    assert [row["topic"] for row in told] == [face["topic"] for face in shown]
    assert [row["words"] for row in told] == [face["words"] for face in shown]
    assert [row["background"] for row in told] == [face["glue"] for face in shown]
    assert told[-1]["background"] and not told[0]["background"] and told[-1]["share"] == max(r["share"] for r in told)
    assert [face["topic"] for face in client.get(f"/m/{slug}/trends.json").json()["topics"]] == [
        r["topic"] for r in told
    ]
    model = topoi.view(marked, name_of(slug))
    for row in told:
        page = client.get(f"/m/{slug}/topic/{row['topic']}.json").json()
        assert row.get("authors", []) == [author["author"] for author in page["authors"]][:5]
        listed = [word["word"] for word in page["words"]][:10]
        assert row["words"][: len(listed)] == listed
        assert listed == model.top_words(10, topic=row["topic"], relevance=0.6)["word"].tolist()


@pytest.mark.parametrize("slug", [MAIN, PRIVATE])
def test_authors(marked, ask, slug):
    told = ask("authors", "--name", name_of(slug), "-n", 50)
    shown = client_of(marked).get(f"/m/{slug}/authors.json").json()["authors"]
    assert list(dict.fromkeys(row["author"] for row in told)) == [line["author"] for line in shown]
    for line in shown:
        rows = [row for row in told if row["author"] == line["author"]]
        leading = [face["topic"] for face in line["topics"]]
        assert [row["topic"] for row in rows][: len(leading)] == leading
        assert {row["n_documents"] for row in rows} == {line["n_documents"]}


def test_an_author_of_one_paper_does_not_come_first(tmp_path):
    """Ann has written most about the sea, and about much else; Bob one short text, about nothing but the sea."""
    rows = [["ship", "sail"] * 20] * 5 + [["wheat", "barn"] * 20] * 20 + [["ship", "sail"] * 2]
    corpus = topoi.Corpus.from_tokens(rows, authors=["Ann"] * 25 + ["Bob"])
    model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    model.save(tmp_path / "sea.topoi")
    sea = int(topoi.word_topics(model, "ship", n=1)["topic"].iloc[0])
    assert model.top_authors(1, topic=sea)["author"].tolist() == ["Bob"], "by how much of their work it is"
    view = topoi.view(tmp_path / "sea.topoi")
    assert view.leading_authors(sea)["author"].tolist() == ["Ann", "Bob"]
    assert view.leading_authors(sea, 1000)["author"].tolist() == ["Ann", "Bob"]


def shown_shares(rows):
    return {row["topic"]["topic"]: [row["share"], row["lower"], row["upper"]] for row in rows}


@pytest.mark.parametrize("slug", [MAIN, PRIVATE, LDA])
def test_shares_and_intervals_are_those_of_the_frames(marked, ask, slug):
    """One number for one share, wherever it is shown, inside its interval."""
    client, view = client_of(marked), topoi.view(marked, name_of(slug))
    sizes, told = view.topic_sizes(), {row["topic"]: row for row in ask("topics", "--name", name_of(slug))}
    for topic in client.get(f"/m/{slug}/overview.json").json()["topics"]:
        page = client.get(f"/m/{slug}/topic/{topic['topic']}.json").json()
        size = sizes.loc[topic["topic"], ["share", "lower", "upper"]].tolist()
        assert size == pytest.approx([topic["share"], topic["lower"], topic["upper"]], abs=1e-12)
        assert [page["lower"], page["upper"]] == [topic["lower"], topic["upper"]]
        assert [told[topic["topic"]][end] for end in ("lower", "upper")] == pytest.approx(size[1:], abs=1e-12)
        assert page["documents"]
        listed = topoi.topic_documents(view, topic["topic"], 30).set_index("document")
        for row in page["documents"]:
            wanted = listed.loc[row["document"]["document_id"], ["share", "lower", "upper"]].tolist()
            assert [row["share"], row["lower"], row["upper"]] == pytest.approx(wanted, abs=1e-12)
    for d in (0, 7):
        frame = topoi.document_topics(view, d).set_index("topic")
        for topic, share in shown_shares(client.get(f"/m/{slug}/document/{d}.json").json()["topics"]).items():
            assert frame.loc[topic, ["share", "lower", "upper"]].tolist() == pytest.approx(share, abs=1e-12)
    page = client.get(f"/m/{slug}/author/0.json").json()
    shares = shown_shares(page["topics"])
    assert shares and all(lower <= share <= upper and lower < upper for share, lower, upper in shares.values())
    if view.n_authors:
        frame = view.author_topics(0).set_index("topic")
        for topic, share in shares.items():
            assert frame.loc[topic, ["probability", "lower", "upper"]].tolist() == pytest.approx(share, abs=1e-12)
    else:
        assert sum(share for share, *_ in shares.values()) == pytest.approx(1.0, abs=0.05)


def test_intervals_are_drawn_and_told(marked):
    client = client_of(marked)
    for page, n in (("", 4), ("author/0", 1), ("document/0", 1)):
        text = client.get(f"/m/{MAIN}/{page}").text
        assert text.count('class="whisker inside"') >= n and "with a probability of 90" in text
        assert "The thin line on a bar holds the share" in text
    assert client.get(f"/m/{MAIN}/author/0.csv").text.splitlines()[0].endswith("share,n_tokens,lower,upper")
    text, listed = client.get(f"/m/{MAIN}/topic/0").text, client.get(f"/m/{MAIN}/topic/0.json").json()["documents"]
    assert text.count('<span class="vh">between </span>') == len(listed) and "The range below a share" in text
    table = client.get(f"/m/{MAIN}/topic/0.csv?table=documents").text
    assert table.splitlines()[0].endswith("share,n_tokens,lower,upper")
    live = client.get(f"/m/{MAIN}/document/0.json?burn_in=1&samples=1&lag=1").json()
    assert all(row["lower"] is None for row in live["topics"])
    assert "without intervals" in client.get(f"/m/{MAIN}/document/0?burn_in=1&samples=1&lag=1").text


def test_pages_of_a_model_without_a_posterior_say_so(tmp_path):
    corpus = topoi.Corpus.from_texts(["ship sail tide", "wheat barn plough"] * 6, min_df=1, max_df=1.0)
    topoi.PLSI(2, random_state=0, progress=False).fit(corpus).save(tmp_path / "p.topoi", name="p")
    client = client_of(tmp_path / "p.topoi")
    assert all(row["lower"] is None for row in client.get("/m/p/document/0.json").json()["topics"])
    text = client.get("/m/p/document/0").text
    assert "does not know how sure" in text and "whisker" not in text
    listed = client.get("/m/p/topic/0.json").json()["documents"]
    assert listed and all(row["lower"] is None and row["upper"] is None for row in listed)
    assert "The range below a share" not in client.get("/m/p/topic/0").text
