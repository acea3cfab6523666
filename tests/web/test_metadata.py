"""The metadata page: what it shows is what the model predicts; and what other pages say of it."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import sqlite3
import threading
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

import topoi
from topoi.analysis.shares import document_points
from topoi.store import connect, files
from topoi.store import store as store_module
from topoi.web.export import Limits, export_site
from topoi.web.pages import context, metadata
from topoi.web.pages.context import StoreWatcher
from topoi.web.pages.parameters import MOST_VALUES
from web.conftest import client_of
from web.samples import HOSTILE, SCRIPT, fit, hostile_corpus, linked_corpus, ordinary_corpus

PAGES = [
    "metadata",
    "metadata?topic=1",
    "metadata?topic=1&topic=2&value=Kepler,+J&value=Holmes,+O&bands=document",
    "metadata?value=Kepler,+J",
    "metadata?topic=0&value=Kepler,+J&value=Holmes,+O",
    "metadata?along=venue",
    "metadata?along=venue&topic=1&topic=2&value=Kepler,+J",
    "metadata?along=authors&topic=1&held=1995.5",
    "metadata?along=pages&by=venue&value=ACL",
    "metadata?along=date",
    "metadata?document=3",
]


@pytest.fixture(scope="module")
def path(featured):
    return featured


@pytest.fixture(scope="module")
def client(path):
    return client_of(path)


@pytest.fixture(scope="module")
def models(path):
    return {name: topoi.load(path, name) for name in ("kernel", "regression")}


@pytest.mark.parametrize("name", ["kernel", "regression"])
@pytest.mark.parametrize("bands", ["curve", "document"])
def test_curves_are_what_the_model_predicts(client, models, name, bands):
    page = client.get(f"/m/{name}/metadata.json?topic=2&topic=0&value=Kepler, J&value=holmes, o&bands={bands}").json()
    model = models[name]
    assert page["values"] == ["Kepler, J", "Holmes, O"] and page["chosen"] == [2, 0]
    feature = page["along"]
    assert feature == {"kernel": "date", "regression": "year"}[name] and page["is_number"]
    given = {"authors": ["Kepler, J", "Holmes, O"]} | ({"pages": 7.5} if name == "kernel" else {})
    assert page["held"] == given.get("pages")
    frame = topoi.share_curve(model, feature, given, n=metadata.N_POINTS, noise=bands == "document")
    assert frame.groupby("topic")["mean"].agg(np.ptp).max() > 0.02
    assert page["at"] == frame[feature].unique().tolist()
    for group, author in zip(page["groups"], ("Kepler, J", "Holmes, O"), strict=True):
        assert group["name"] == group["value"] == author
        assert client.get(f"/m/{name}/author/{group['author_id']}.json").json()["author"]["name"] == author
        assert [curve["topic"]["topic"] for curve in group["curves"]] == [2, 0]
        for curve in group["curves"]:
            rows = frame[frame["given"].str.startswith(author) & (frame["topic"] == curve["topic"]["topic"])]
            for part in ("mean", "lower", "upper"):
                assert curve[part] == pytest.approx(rows[part].tolist(), abs=1e-6)


def test_dots_are_the_authors_documents(client, models):
    page = client.get("/m/kernel/metadata.json?topic=1&topic=2&value=Kepler, J").json()
    points = page["groups"][0]["points"]
    expected = document_points(models["kernel"], "date", {"authors": ["Kepler, J"]})
    assert [point["document_id"] for point in points] == expected["document"].tolist()
    lists = models["kernel"].corpus_.author_lists()
    assert all("Kepler, J" in lists[point["document_id"]] for point in points) and len(points) > 5
    shares = models["kernel"].doc_topic_
    for point in points:
        assert point["share"] == pytest.approx(shares[point["document_id"], [1, 2]], abs=1e-6)
    everybody = client.get("/m/kernel/metadata.json?topic=1").json()["groups"][0]
    assert everybody["value"] is None and everybody["name"] == "somebody new" and len(everybody["points"]) == 60


def test_without_topics_all_of_them_stacked(client):
    page = client.get("/m/kernel/metadata.json").json()
    curves = page["groups"][0]["curves"]
    assert sorted(curve["topic"]["topic"] for curve in curves) == [0, 1, 2] and page["chosen"] == []
    for i in range(len(page["at"])):
        assert sum(curve["mean"][i] for curve in curves) == pytest.approx(1.0, abs=1e-4)
    text = client.get("/m/kernel/metadata").text
    assert text.count('class="area h') == 2 * 3  # on wide screens and on narrow ones
    assert 'class="spread"' not in text and 'class="spread"' in client.get("/m/kernel/metadata?topic=1").text


def test_along_names_there_are_bars(client, models):
    page = client.get("/m/regression/metadata.json?along=authors&topic=1&held=1992").json()
    assert not page["is_number"] and page["held_feature"] == "year" and page["held"] == 1992
    assert sorted(page["at"]) == sorted(models["regression"].corpus_.authors)
    frame = topoi.share_curve(models["regression"], "authors", {"year": 1992}, [1])
    assert page["groups"][0]["curves"][0]["mean"] == pytest.approx(frame["mean"].tolist(), abs=1e-6)
    other = client.get("/m/regression/metadata.json?along=authors&topic=1&held=1999").json()
    assert other["groups"][0]["curves"][0]["mean"] != page["groups"][0]["curves"][0]["mean"]
    text = client.get("/m/regression/metadata?along=authors&topic=1").text
    assert text.count('class="whisker"') == 2 * 9
    assert "Year is held at 1994. Held besides: cites: no links." in text
    with pytest.warns(UserWarning, match="outside the documents' range"):
        far = client.get("/m/regression/metadata?along=authors&topic=1&held=2100").text
    assert "Year is held at 2100, outside the documents’ range, " in far and ": an extrapolation. Held besides" in far


def test_features_and_what_can_be_chosen(client):
    page = client.get("/m/kernel/metadata.json").json()
    kinds = {feature["name"]: feature["kind"] for feature in page["features"]}
    assert kinds == {"date": "date", "authors": "names", "venue": "category", "pages": "number", "cites": "links"}
    documents = [choice["n_documents"] for choice in page["choices"]]
    assert documents == sorted(documents, reverse=True) and sum(documents) > 60 and page["by"] == "authors"
    kinds = {f["name"]: f["kind"] for f in client.get("/m/regression/metadata.json").json()["features"]}
    assert kinds == {"year": "number", "authors": "names", "venue": "category", "cites": "links"}
    page = client.get("/m/kernel/metadata.json?by=venue&value=NIPS").json()
    assert [(choice["value"], choice["chosen"]) for choice in page["choices"]] == [("NIPS", True), ("ACL", False)]


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("along=nothing", 400, "no feature 'nothing'; the features are 'date'"),
        ("along=cites", 400, "have no order"),
        ("by=date", 400, "cannot be set side by side"),
        ("along=venue&by=venue", 400, "cannot be set side by side"),
        ("value=Keplr, J", 404, "did you mean 'Kepler, J'"),
        ("value=Kepler, J;Nobody At All", 404, "there is no author"),
        ("topic=3", 404, "no topic 3"),
        ("topic=-1", 400, "greater than or equal"),
        ("bands=wide", 400, "'curve' or 'document'"),
        ("held=nan", 400, "finite"),
        ("held=1e300", 400, "less than or equal"),
        ("document=60", 404, "no document 60"),
        ("along=" + "x" * 1001, 400, "at most 1000"),
        ("&".join(f"value={a}" for a in range(MOST_VALUES + 1)), 400, "at most 6"),
        ("value=Kepler, J;Sagan, C;Crick, F;Franklin, R;Jordan, M;Holmes, O;Warren, E", 400, "at most 6"),
    ],
)
def test_bad_questions(client, query, status, says):
    answer = client.get(f"/m/kernel/metadata.json?{query}")
    assert answer.status_code == status and says in answer.json()["detail"], answer.text
    assert client.get(f"/m/kernel/metadata?{query}").status_code == status


def test_only_models_that_read_metadata_have_the_page(client):
    assert client.get("/m/lda/metadata").status_code == 404
    assert "/metadata" not in client.get("/m/lda/").text
    assert "metadata?" not in client.get("/m/lda/topic/1").text
    for name in ("kernel", "regression"):
        assert f'href="/m/{name}/metadata"' in client.get(f"/m/{name}/").text
        assert f'href="/m/{name}/metadata?topic=1"' in client.get(f"/m/{name}/topic/1").text
        text = client.get(f"/m/{name}/metadata?topic=1").text
        assert re.search(rf'href="/m/{name}/metadata" aria-current="page"', text)


def test_authors_lead_to_what_is_expected_of_them(client):
    text = client.get("/m/kernel/author/2").text
    (href,) = re.findall(r'href="(/m/kernel/metadata\?value=[^"]+)"', text)
    page = client.get(href.replace("metadata?", "metadata.json?")).json()
    assert page["groups"][0]["author_id"] == 2
    assert 'href="/m/kernel/author/2"' in client.get(href).text


@pytest.mark.parametrize("name", ["kernel", "regression"])
def test_links_of_a_document(client, models, name):
    page = client.get(f"/m/{name}/metadata.json?document=3").json()
    frame = topoi.link_neighbourhood(models[name], 3)
    assert [row["document"]["document_id"] for row in page["linked"]] == frame["document"].tolist()
    assert [row["relation"] for row in page["linked"]] == frame["relation"].tolist()
    assert [row["topic"]["topic"] for row in page["linked"]] == frame["topic"].tolist()
    text = client.get(f"/m/{name}/metadata?document=3").text
    graph = text.split('<div class="chart graph">')[1].split("</div>")[0]
    assert set(re.findall(r'<a href="([^"]+)"', graph)) == {f"/m/{name}/document/{d}" for d in frame["document"]}
    assert client.get(f"/m/{name}/document/3.json").json()["has_links"] is True
    assert f'href="/m/{name}/metadata?document=3"' in client.get(f"/m/{name}/document/3").text
    assert client.get("/m/lda/document/3.json").json()["has_links"] is False


def test_a_model_that_reads_links_only(tmp_path):
    model = fit(topoi.KernelTopicModel, linked_corpus(), 2, features="cites", n_warmup=10)
    model.save(tmp_path / "s.topoi", name="m")
    client = client_of(tmp_path / "s.topoi")
    page = client.get("/m/m/metadata.json").json()
    assert page["along"] is None and page["groups"] == [] == page["linked"]
    assert "reads links only" in client.get("/m/m/metadata").text
    assert client.get("/m/m/metadata.svg").status_code == 404
    assert len(client.get("/m/m/metadata.json?document=3").json()["linked"]) > 3
    assert client.get("/m/m/metadata.svg?document=3").status_code == 200


def test_without_metadata_in_the_file(tmp_path):
    model = fit(topoi.KernelTopicModel, linked_corpus(), 2, features=["year", "venue"], n_warmup=10)
    model.save(tmp_path / "s.topoi", name="m", corpus=False)
    client = client_of(tmp_path / "s.topoi")
    page = client.get("/m/m/metadata.json?topic=1&value=ACL").json()
    assert page["groups"][0]["points"] == [] and page["choices"][0] == {
        "value": "ACL",
        "n_documents": 0,
        "chosen": True,
    }
    frame = topoi.share_curve(model, "year", {"venue": "ACL"}, [1], n=metadata.N_POINTS)
    assert page["groups"][0]["curves"][0]["mean"] == pytest.approx(frame["mean"].tolist(), abs=1e-6)


def test_a_matrix_of_similarities_has_no_features(tmp_path):
    corpus = ordinary_corpus(12)
    matrix = np.exp(-0.1 * (np.arange(12)[:, None] - np.arange(12)) ** 2)
    fit(topoi.KernelTopicModel, corpus, 2, kernel=matrix, n_warmup=10).save(tmp_path / "s.topoi", name="m")
    client = client_of(tmp_path / "s.topoi")
    assert client.get("/m/m/metadata").status_code == 404 and "/metadata" not in client.get("/m/m/").text


@pytest.mark.parametrize("page", PAGES)
def test_every_view_as_page_data_table_and_picture(client, page):
    path, question, query = page.partition("?")
    for name in ("kernel", "regression"):
        if name == "regression" and ("pages" in page or "date" in page):
            continue
        assert client.get(f"/m/{name}/{page}").status_code == 200
        twin = client.get(f"/m/{name}/{path}.json{question}{query}").json()
        rows = list(csv.DictReader(io.StringIO(client.get(f"/m/{name}/{path}.csv{question}{query}").text)))
        n_curves = sum(len(group["curves"]) for group in twin["groups"])
        assert len(rows) == n_curves * len(twin["at"])
        assert float(rows[-1]["mean"]) == twin["groups"][-1]["curves"][-1]["mean"][-1]
        picture = client.get(f"/m/{name}/{path}.svg{question}{query}")
        root = ET.fromstring(picture.text)
        assert not [element for element in root.iter() if "class" in element.attrib or element.tag.endswith("}a")]


class Parts(HTMLParser):
    """The ids, labels, controls and pictures of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.labelled: set[str] = set()
        self.controls: list[dict[str, str | None]] = []
        self.pictures: list[dict[str, str | None]] = []
        self.refs: set[str] = set()
        self._in_label = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.refs |= {given[name] for name in ("aria-labelledby", "for") if name in given}
        self._in_label += tag == "label"
        if tag == "label" and "for" in given:
            self.labelled.add(given["for"])
        if tag in ("input", "select", "textarea") and given.get("type") != "hidden":
            self.controls.append({**given, "inside": "yes" if self._in_label else None})
        if tag == "svg":
            self.pictures.append(given)
        assert "style" not in given and not any(name.startswith("on") for name in given)

    def handle_endtag(self, tag):
        self._in_label -= tag == "label"


@pytest.mark.parametrize("page", PAGES)
def test_controls_have_labels_and_pictures_a_sentence(client, page):
    parts = Parts(client.get(f"/m/kernel/{page}").text)
    assert len(parts.ids) == len(set(parts.ids)) and parts.refs <= set(parts.ids)
    assert all(control["inside"] or control.get("id") in parts.labelled for control in parts.controls)
    charts = [picture for picture in parts.pictures if picture.get("class") in ("wide", "narrow")]
    assert charts and all(len(picture["aria-label"]) > 40 and picture["role"] in ("img", "group") for picture in charts)


def test_every_address_leads_somewhere(client):
    found = set()
    for page in (PAGES[0], PAGES[2], PAGES[6], PAGES[-1]):
        text = html.unescape(client.get(f"/m/kernel/{page}").text)
        found |= {href for href in re.findall(r'href="(/m/kernel/[^"]*)"', text)}
    assert len(found) > 30
    for href in sorted(found):
        assert client.get(href).status_code == 200, href


def test_a_table_has_the_numbers_of_the_picture(client):
    twin = client.get("/m/kernel/metadata.json?topic=1&value=Kepler, J").json()
    text = client.get("/m/kernel/metadata?topic=1&value=Kepler, J").text
    table = text.split('<table class="list">')[1].split("</table>")[0]
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", table, re.S)
    assert len(rows) == 13
    last = twin["groups"][0]["curves"][0]["mean"][-1]
    assert f"{100 * last:.{0 if last >= 0.0995 else 1}f}\u202f%" in rows[-1]


def test_the_model_is_loaded_once(path, monkeypatch):
    loads: list[str] = []
    calls: list[str] = []
    plain = files.load

    def counted(store, name):
        loads.append(name)
        model = plain(store, name)
        predict = model.predict
        model.predict = lambda *given, **options: calls.append(name) or predict(*given, **options)
        return model

    monkeypatch.setattr(files, "load", counted)
    client = client_of(path)
    client.get("/m/kernel/")
    client.get("/m/kernel/topic/1")
    assert loads == []
    threads = [threading.Thread(target=client.get, args=(f"/m/kernel/{PAGES[i % 4]}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == ["kernel"] and len(calls) == 3  # the first two pages have the same curves
    client.get("/m/regression/metadata")
    assert loads == ["kernel", "regression"]


def test_answers_are_kept_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(context, "_MOST_KEPT", 2)
    answers, made = context.Answers(), []
    for key in ("a", "b", "a", "c", "a", "b"):
        answers.get(key, lambda key=key: made.append(key) or key)
    assert made == ["a", "b", "c", "b"]


def test_a_model_that_is_saved_again_is_loaded_again(tmp_path):
    path, corpus = tmp_path / "s.topoi", ordinary_corpus()
    fit(topoi.KernelTopicModel, corpus, 2, features=["year"], n_warmup=10).save(path, name="m")
    client = client_of(path)
    assert [f["name"] for f in client.get("/m/m/metadata.json").json()["features"]] == ["year"]
    fit(topoi.KernelTopicModel, corpus, 2, features=["venue"], n_warmup=10).save(path, name="m")
    assert [f["name"] for f in client.get("/m/m/metadata.json").json()["features"]] == ["venue"]


def test_pages_ask_little(path, monkeypatch):
    statements: list[str] = []

    def reader(file):
        connection = connect.connect_reader(file)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(store_module, "connect_reader", reader)
    client = client_of(path)
    pages = ["metadata", *PAGES[2:7:2], PAGES[-1], "document/3", "author/2"]
    for page in pages:
        client.get(f"/m/kernel/{page}")
    for page in pages:
        statements.clear()
        assert client.get(f"/m/kernel/{page}").status_code == 200
        ours = [s for s in statements if not s.startswith("--") and not s.lstrip().upper().startswith("PRAGMA")]
        assert len(ours) <= 5, (page, ours)


def test_damaged_models_are_refused_kindly(path, tmp_path):
    for change in (
        "UPDATE model SET bundle = json_set(bundle, '$.progress.features', 'none') WHERE name = 'kernel'",
        "UPDATE model SET bundle = json_set(bundle, '$.settings.features', 7) WHERE name = 'kernel'",
        "DELETE FROM array WHERE model_id = (SELECT model_id FROM model WHERE name = 'kernel') AND name = 'y'",
    ):
        copy = shutil.copy(path, tmp_path / "damaged.topoi")
        with sqlite3.connect(copy) as connection:
            connection.execute(change)
        answer = client_of(copy).get("/m/kernel/metadata.json")
        assert answer.status_code in (404, 503), (change, answer.status_code, answer.text)


def test_numbers_that_lead_nowhere(path, monkeypatch):
    def fail(*given, **options):
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(topoi.KernelTopicModel, "predict", fail)
    answer = client_of(path).get("/m/kernel/metadata.json")
    assert answer.status_code == 503 and "metadata.topoi: the model's numbers lead nowhere" in answer.json()["detail"]


def test_names_and_values_of_strangers(tmp_path):
    corpus, path = hostile_corpus(), tmp_path / "s.topoi"
    model = fit(topoi.KernelTopicModel, corpus, 2, features=["year", "authors", SCRIPT], n_warmup=10)
    model.save(path, name="m")
    client = client_of(path)
    page = client.get("/m/m/metadata.json").json()
    addresses = [{"topic": "1"}, {"along": SCRIPT}, {"along": SCRIPT, "topic": "0"}]
    addresses += [{"value": choice["value"], "topic": "1"} for choice in page["choices"][:4]]
    addresses += [{"by": SCRIPT, "value": bad} for bad in HOSTILE[:5]]
    addresses += [{"value": bad} for bad in HOSTILE[:5]] + [{"along": bad} for bad in HOSTILE[:5]]
    for given in addresses:
        for name in ("metadata", "metadata.svg"):
            answer = client.get(f"/m/m/{name}", params=given)
            assert answer.status_code in (200, 400, 404), (given, answer.status_code)
            shown = answer.text if answer.status_code == 200 or name == "metadata" else ""  # else JSON
            for bad in ("<script>alert", "<img src=x", "<script src=//evil"):
                assert bad not in shown, (given, name)
            if answer.status_code == 200 and name.endswith(".svg"):
                ET.fromstring(answer.text)
    answer = client.get("/m/m/metadata.csv", params={"value": page["choices"][0]["value"]})
    assert all(not cell.startswith(("=", "+", "@")) for row in csv.reader(io.StringIO(answer.text)) for cell in row)


def test_static_copy(path, tmp_path, client):
    export_site(path, tmp_path / "site", Limits(2, 5))
    folder = tmp_path / "site" / "kernel"
    assert {file.name for file in (folder / "metadata").glob("*.html")} == {f"{k}.html" for k in range(3)}
    assert json.loads((folder / "metadata/1.json").read_text()) == client.get("/m/kernel/metadata.json?topic=1").json()
    for name in ("metadata.html", "metadata/1.html", "topic/1.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "<form" not in text
        for address in re.findall(r'href="([^"#]+)"', text):
            assert ((folder / name).parent / address).resolve().is_file(), (name, address)
    assert "metadata/1.html" in (folder / "topic/1.html").read_text(encoding="utf-8")
    ET.fromstring((folder / "metadata/1.svg").read_text(encoding="utf-8"))
    assert not (tmp_path / "site" / "lda" / "metadata.html").exists()


def test_room_knows_features_without_loading(path):
    watcher = StoreWatcher(path)
    assert watcher.context("kernel").features == ["date", "authors", "venue", "pages", "cites"]
    assert watcher.context("lda").features == []


def test_names_with_semicolons_are_found(tmp_path):
    path = tmp_path / "semicolons.topoi"
    corpus = topoi.Corpus.from_tokens(
        [["a"] * 5, ["b"] * 5] * 4, authors=[["Bob; C"], ["Ann"]] * 4, dates=list(range(1990, 1998))
    )
    fit(topoi.DirichletMultinomialRegression, corpus, 2, features=["year", "authors"]).save(path, name="m")
    client = client_of(path)
    page = client.get("/m/m/metadata.json", params={"topic": 0, "value": "Bob; C"}).json()
    assert page["values"] == ["Bob; C"] and len(page["groups"][0]["points"]) == 4
    assert client.get("/m/m/metadata.json", params={"value": "Ann; Bobby"}).status_code == 404
