"""The structure page, its super-topics, and what other pages say of them."""

from __future__ import annotations

import re
import shutil
import sqlite3
import xml.etree.ElementTree as ET

import pytest

import topoi
from topoi.store import connect
from topoi.store import store as store_module
from topoi.store.queries import PAGE_QUERIES
from topoi.web.export import Limits, export_site
from web.conftest import client_of
from web.samples import FREE, HOSTILE, fit, hostile_corpus, ordinary_corpus

PAGES = [
    "structure",
    "structure?min_share=0&most=2",
    "structure?min_share=0.3",
    "structure/1",
    "structure/2?min_share=0",
]


@pytest.fixture(scope="module")
def model(graphed):
    return topoi.load(graphed, "four")


@pytest.fixture(scope="module")
def path(graphed):
    return graphed


@pytest.fixture(scope="module")
def client(path):
    return client_of(path)


def test_super_topics_and_their_strongest_topics(client, model):
    page = client.get("/m/four/structure.json").json()
    edges = model.edges()
    root = edges[edges["parent"] == "root"].sort_values("n_words", ascending=False, kind="stable")
    assert [row["node"]["name"] for row in page["super_topics"]] == root["child"].tolist()
    assert [row["node"]["n_tokens"] for row in page["super_topics"]] == root["n_words"].tolist()
    labels = model.node_labels(10)
    for row in page["super_topics"]:
        mine = edges[edges["parent"] == row["node"]["name"]].set_index("child")
        alphas = [part["alpha"] for part in row["children"] if not part["node"]["topic"]["glue"]]
        assert alphas == sorted(alphas, reverse=True)
        for part in row["children"]:
            edge = mine.loc[part["node"]["name"]]
            assert (part["alpha"], part["share"], part["n_tokens"]) == (edge["alpha"], edge["share"], edge["n_words"])
            assert part["node"]["topic"]["topic"] == edge["topic"]
        assert row["node"]["words"] == labels[row["node"]["name"]].split()
        assert row["node"]["label"] is None
    assert (page["n_super"], page["n_topics"], page["n_edges"]) == (4, 6, 28)
    text = client.get("/m/four/structure").text
    assert text.count('class="row parent"') == 4


def test_edges_on_demand(client, model):
    def shown(query):
        page = client.get(f"/m/four/structure.json{query}").json()
        return page, [edge for edge in page["edges"] if edge["parent"] != 0]

    few, edges = shown("")
    assert len(edges) == 4 * 4 and few["n_hidden"] >= 0
    every, edges = shown("?min_share=0")
    assert len(edges) == 24 and every["n_hidden"] == 0
    limit = float(model.edges()["share"].quantile(0.7))
    _, edges = shown(f"?min_share={limit}")
    strongest = {(e["parent"], max(o["share"] for o in edges if o["parent"] == e["parent"])) for e in edges}
    assert all(e["share"] >= limit or (e["parent"], e["share"]) in strongest for e in edges)
    assert len({e["parent"] for e in edges}) == 4
    _, edges = shown("?most=1&min_share=0")
    assert len({e["parent"] for e in edges}) == 1
    for bad in ("?min_share=2", "?min_share=x", "?most=0", "?min_share=nan"):
        assert client.get(f"/m/four/structure.json{bad}").status_code == 400


def test_a_super_topic(client, model):
    page = client.get("/m/four/structure/3.json").json()
    assert page["node"]["name"] == "super 2"
    documents = topoi.node_documents(model, "super 2", 15)
    assert [row["document"]["document_id"] for row in page["documents"]] == documents["document"].tolist()
    assert [row["share"] for row in page["documents"]] == pytest.approx(documents["share"].tolist())
    trend = topoi.node_trends(model)
    trend = trend[trend["node"] == "super 2"]
    assert page["trend"]["years"] == trend["year"].tolist()
    assert page["trend"]["share"] == pytest.approx(trend["share"].tolist())
    assert page["trend"]["n_tokens"] == trend["n_words"].tolist()
    assert [word["word"] for word in page["words"]] == model.node_labels(20)["super 2"].split()
    assert page["parents"] == [] and page["own"] is None
    assert {item["node"]["node"]: item["column"] for item in page["nodes"]}[3] == 0
    assert all(edge["parent"] == 3 for edge in page["edges"]) and len(page["edges"]) == 6
    html = client.get("/m/four/structure/3").text
    for part in page["children"]:
        assert f'href="/m/four/topic/{part["node"]["topic"]["topic"]}"' in html
    for word in page["words"]:
        assert f'href="/m/four/word/{word["word_id"]}"' in html


def test_what_has_no_page(client):
    for address, says in [
        ("four/structure/99", "no node 99"),
        ("four/structure/0", "node 0 is the root"),
        ("four/structure/7", "no super-topic but topic 2"),
    ]:
        answer = client.get(f"/m/{address}.json")
        assert answer.status_code == 404 and says in answer.json()["detail"]
    for address in ("lda/structure", "lda/structure/1"):
        assert client.get(f"/m/{address}.json").status_code == 404
    assert "/structure" not in client.get("/m/lda/").text
    assert client.get("/m/lda/topic/0.json").json()["super_topics"] == []
    assert client.get("/m/lda/document/0.json").json()["super_topics"] == []


def test_menu_and_ways_in(client):
    assert 'href="/m/four/structure"' in client.get("/m/four/").text
    for address in ("structure", "structure/1"):
        text = client.get(f"/m/four/{address}").text
        assert re.search(r'href="/m/four/structure" aria-current="page"', text)


def test_topics_name_their_super_topics(client, model):
    edges = model.edges()
    for k in range(6):
        page = client.get(f"/m/four/topic/{k}.json").json()
        mine = edges[(edges["topic"] == k) & (edges["n_words"] > 0)].sort_values("n_words", ascending=False)
        assert [part["n_tokens"] for part in page["super_topics"]] == mine["n_words"].tolist()
        # Expected numbers, each rounded.
        parts = [part["n_tokens"] for part in page["super_topics"]]
        assert abs(sum(parts) - page["n_tokens"]) <= (len(parts) + 1) / 2
        assert "Part of super-topics" in client.get(f"/m/four/topic/{k}").text


def test_documents_name_their_super_topics(client, model):
    for d in (0, 31):
        page = client.get(f"/m/four/document/{d}.json").json()
        found = topoi.document_nodes(model, d, 5)
        assert [row["node"]["name"] for row in page["super_topics"]] == found["node"].tolist()
        assert [row["share"] for row in page["super_topics"]] == pytest.approx(found["share"].tolist())


def test_any_graph(client):
    page = client.get("/m/free/structure.json?min_share=0").json()
    nodes = {item["node"]["name"]: item for item in page["nodes"]}
    assert set(nodes) == {name for edge in FREE for name in edge} - {topoi.WORDS}
    assert len(page["edges"]) == len(FREE) - 1
    assert nodes["law"]["node"]["topic"] is not None and nodes["law"]["node"]["label"] == "law"
    assert nodes["deeper"]["column"] == 2 and nodes["courts"]["column"] == 3
    by_name = {name: item["node"]["node"] for name, item in nodes.items()}
    law = client.get(f"/m/free/structure/{by_name['law']}.json").json()
    assert law["own"]["n_tokens"] > 0
    assert "It draws words itself too" in client.get(f"/m/free/structure/{by_name['law']}").text
    deeper = client.get(f"/m/free/structure/{by_name['deeper']}.json").json()
    assert [part["node"]["name"] for part in deeper["parents"]] == ["deep"]
    assert "<b>earth</b>" not in client.get("/m/free/structure").text


def test_a_graph_without_super_topics(tmp_path):
    model = fit(topoi.PachinkoAllocation, ordinary_corpus(12), dag=topoi.Dag.from_levels(3))
    model.save(tmp_path / "s.topoi", name="m")
    client = client_of(tmp_path / "s.topoi")
    page = client.get("/m/m/structure.json").json()
    assert page["super_topics"] == [] and len(page["edges"]) == 3
    for address in ("structure", "topic/1", "document/0", "structure.svg"):
        assert client.get(f"/m/m/{address}").status_code == 200


def test_every_box_of_the_graph_leads_on(client):
    for address in ("four/structure", "free/structure?min_share=0", "four/structure/2"):
        graph = client.get(f"/m/{address}").text.split('<div class="chart graph">')[1].split("</div>")[0]
        hrefs = set(re.findall(r'<a href="([^"]+)"', graph))
        assert len(hrefs) > 4
        for href in hrefs:
            assert client.get(href).status_code == 200


@pytest.mark.parametrize("address", ["four/structure", "four/structure/2", "free/structure"])
def test_picture_to_keep(client, address):
    answer = client.get(f"/m/{address}.svg")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("image/svg")
    root = ET.fromstring(answer.text)
    svg = "{http://www.w3.org/2000/svg}"
    assert not list(root.iter(f"{svg}a")) and not [e for e in root.iter() if "class" in e.attrib]
    boxes = [rect for rect in root.iter(f"{svg}rect") if rect.get("rx")]
    assert len({rect.get("fill") for rect in boxes}) > 3
    assert all(path.get("stroke", "").startswith("#") for path in root.iter(f"{svg}path"))


def test_tables(client):
    for table, columns in [
        ("edges", "parent,child,alpha,share,n_tokens"),
        ("super_topics", "node,name,label,auto_label,words"),
    ]:
        lines = client.get(f"/m/four/structure.csv?table={table}").text.splitlines()
        assert lines[0].startswith(columns) and len(lines) > 4
    assert client.get("/m/four/structure/1.csv?table=children").status_code == 200


def test_pages_ask_little(path, monkeypatch):
    statements: list[str] = []

    def reader(file):
        connection = connect.connect_reader(file)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(store_module, "connect_reader", reader)
    client = client_of(path)
    pages = [*PAGES, "topic/1", "document/3", "overview.json"]
    for page in pages:
        client.get(f"/m/four/{page}")
    for page in pages:
        statements.clear()
        assert client.get(f"/m/four/{page}").status_code == 200
        ours = [s for s in statements if not s.startswith("--") and not s.lstrip().upper().startswith("PRAGMA")]
        assert len(ours) <= 5, (page, ours)


@pytest.mark.parametrize("query", ["node_works", "work_and_others", "words_named"])
def test_questions_use_indexes(path, query):
    given = {"model_id": 3, "node": 1, "n": 5, "ids": '["star"]'}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {PAGE_QUERIES[query]}", given)]
    assert not [step for step in plan if step.startswith("SCAN") and "VIRTUAL" not in step and "subquery" not in step]


def test_damaged_graphs_are_refused_kindly(path, tmp_path):
    for change in (
        "UPDATE dag_edge SET child = 99 WHERE parent = 1 AND position = 0",
        "UPDATE dag_edge SET parent = 9, child = 2 WHERE parent = 0 AND position = 1",
        "UPDATE dag_node SET words = '{' WHERE node = 2",
        "UPDATE dag_node SET topic = 77 WHERE node = 5",
        "DELETE FROM dag_edge",
        "DELETE FROM dag_node WHERE node = 3",
        "UPDATE document_node SET node = node + 50",
        "UPDATE node_trend SET share = 'much'",
        "UPDATE dag_edge SET alpha = 'much'",
    ):
        copy = shutil.copy(path, tmp_path / "damaged.topoi")
        with sqlite3.connect(copy) as connection:
            connection.execute(f"{change}{' AND' if 'WHERE' in change else ' WHERE'} model_id = 3")
        client = client_of(copy)
        for page in ("structure", "structure/2" if "trend" in change or "dag" in change else "document/0"):
            answer = client.get(f"/m/four/{page}")
            assert answer.status_code in (200, 503), (change, page, answer.status_code)


def test_names_and_words_of_strangers(tmp_path):
    names = [f"{name} {i}" for i, name in enumerate(HOSTILE)]
    edges = [("root", names[i]) for i in range(3)]
    edges += [(names[i], leaf) for i in range(3) for leaf in names[3:6]]
    path = tmp_path / "s.topoi"
    fit(topoi.PachinkoAllocation, hostile_corpus(), dag=topoi.Dag.from_edges(edges)).save(path, name="m")
    client = client_of(path)
    for page in ("structure", "structure/1", "topic/0", "document/0", "structure.svg", "structure/1.svg"):
        text = client.get(f"/m/m/{page}").text
        for bad in ("<script>alert", "<img src=x", "onerror=alert(1)>", "{{ 7"):
            assert bad not in text.replace("{{ 7 * 7 }}", "" if bad != "{{ 7" else "ok"), (page, bad)
        if page.endswith(".svg"):
            ET.fromstring(text)


def test_static_copy(path, tmp_path, client):
    export_site(path, tmp_path / "site", Limits(2, 5))
    folder = tmp_path / "site" / "four"
    assert {file.name for file in (folder / "structure").glob("*.html")} == {f"{node}.html" for node in range(1, 5)}
    document = next(folder.glob("document/*.html")).name
    for name in ("structure.html", "structure/2.html", "topic/1.html", f"document/{document}"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "<form" not in text and "min_share" not in text
        for address in re.findall(r'href="([^"#]+)"', text):
            assert ((folder / name).parent / address).resolve().is_file(), (name, address)
    assert "structure/2.html" in (folder / "structure.html").read_text(encoding="utf-8")
    assert (folder / "structure.svg").is_file() and (folder / "structure/2.json").is_file()
    assert not (tmp_path / "site" / "lda" / "structure.html").exists()


def ends(row):
    return [row["lower"], row["upper"]]


def test_intervals_of_super_topics_are_those_of_the_frames(client, model):
    sizes = model.node_sizes().set_index("node")
    page = client.get("/m/four/structure.json").json()
    for row in [*page["super_topics"], *page["nodes"]]:
        if row["node"]["name"] != "root":
            wanted = sizes.loc[row["node"]["name"], ["lower", "upper"]].tolist()
            assert ends(row) == pytest.approx(wanted, abs=1e-9)
    text = client.get("/m/four/structure").text
    assert text.count('class="whisker inside"') == page["n_super"] and "The thin line on a bar" in text
    node = client.get("/m/four/structure/1.json").json()
    assert ends(node) == pytest.approx(sizes.iloc[0][["lower", "upper"]].tolist(), abs=1e-9)
    listed = topoi.node_documents(model, 1, 30).set_index("document")
    for row in node["documents"]:
        wanted = listed.loc[row["document"]["document_id"], ["share", "lower", "upper"]].tolist()
        assert [row["share"], *ends(row)] == pytest.approx(wanted, abs=1e-6)
    assert "The range below a share" in client.get("/m/four/structure/1").text
    own = topoi.document_nodes(model, 0).set_index("node")
    shown = client.get("/m/four/document/0.json").json()["super_topics"]
    assert shown
    for row in shown:
        wanted = own.loc[row["node"]["name"], ["share", "lower", "upper"]].tolist()
        assert [row["share"], *ends(row)] == pytest.approx(wanted, abs=1e-6)


def test_the_parts_of_a_topics_words_have_intervals(client, model):
    edges = model.edges()
    for topic in range(len(model.dag_.topics)):
        rows = client.get(f"/m/four/topic/{topic}.json").json()["super_topics"]
        into = edges[edges["topic"] == topic].set_index("parent")["n_words"]
        for row in rows:
            assert row["part"] == pytest.approx(into[row["node"]["name"]] / into.sum())
            assert row["lower"] <= row["part"] <= row["upper"] and row["lower"] < row["upper"]
        assert len(rows) == (into > 0).sum()
    assert client.get("/m/four/topic/0").text.count("holds it with a probability of 90") == 2
    head = client.get("/m/four/topic/0.csv?table=super_topics").text.splitlines()[0]
    assert head.endswith("part,lower,upper")
