"""A static copy: whole, linked within itself, harmless, and never in the way of anything else."""

from __future__ import annotations

import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from topoi.cli.main import main
from topoi.errors import NotFoundError, StoreError
from topoi.web.export import MARK, Limits, export_site
from topoi.web.links import name_of
from web.addresses import LDA, MAIN
from web.samples import hostile_corpus, save_all


class Addresses(HTMLParser):
    """Every address that a page refers to, and every script or style that stands in it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.found += [given[name] for name in ("href", "src", "action") if given.get(name)]
        if (tag == "script" and "src" not in given) or tag == "style" or "style" in given:
            self.inline.append(tag)
        self.inline += [name for name in given if name.startswith("on")]


def read(path: Path) -> Addresses:
    parser = Addresses()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


@pytest.fixture(scope="module")
def site(stored, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "site"
    seen = []
    n_pages = export_site(stored, folder, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (n_pages, n_pages) and [done for done, _ in seen] == list(range(1, n_pages + 1))
    return folder


def test_every_link_leads_to_a_file(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 200
    for page in pages:
        for address in read(page).found:
            if address.startswith(("#", "data:")):
                continue
            assert "://" not in address and not address.startswith("/"), f"{page}: {address}"
            assert (page.parent / address.partition("#")[0]).resolve().is_file(), f"{page}: {address}"


def test_pages_show_what_the_server_shows(site, client):
    for kind in ("topic/3", "author/2", "word/5", "trends", "models"):
        served = client.get(f"/m/{MAIN}/{kind}.json").json()
        assert json.loads((site / MAIN / f"{kind}.json").read_text(encoding="utf-8")) == served
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", client.get(f"/m/{MAIN}/{kind}").text, re.S)[1]
        text = re.sub(r"<[^>]+>|\s+", "", heading)
        assert text in re.sub(r"<[^>]+>|\s+", "", (site / MAIN / f"{kind}.html").read_text(encoding="utf-8"))
    assert (site / MAIN / "map.svg").exists() and (site / MAIN / "topic/3.svg").exists()


def test_lists_go_on_and_texts_change_colour(site):
    first = read(site / MAIN / "documents.html").found
    assert "documents-2.html" in first
    second = read(site / MAIN / "documents-2.html").found
    assert "documents.html" in second
    by_author = (site / MAIN / "document/0-by-author.html").read_text(encoding="utf-8")
    assert 'data-colour="author"' in by_author
    assert "../../static/style.css" in read(site / MAIN / "document/0.html").found


def test_what_needs_the_program_is_not_offered(site):
    for page in ("index", "document/0", "topic/1", "authors"):
        text = (site / MAIN / f"{page}.html").read_text(encoding="utf-8")
        assert "<form" not in text or "data-still" in text, page
        assert "complete.json" not in text


@pytest.mark.slow
def test_limits_leave_out_pages_but_not_links(stored, tmp_path):
    export_site(stored, tmp_path / "site", Limits(authors=2, documents=5))
    folder = tmp_path / "site" / MAIN
    assert len(list(folder.glob("author/*.html"))) == 2
    assert len(list(folder.glob("document/*.json"))) == 5
    for page in sorted((tmp_path / "site").rglob("*.html")):
        for address in read(page).found:
            if not address.startswith(("#", "data:")):
                assert (page.parent / address.partition("#")[0]).resolve().is_file(), f"{page}: {address}"
    assert "Not in this copy" in (folder / "left-out.html").read_text(encoding="utf-8")


def test_a_hostile_collection_is_harmless_in_files(tmp_path):
    path = save_all(hostile_corpus(), tmp_path / "hostile.topoi")
    export_site(path, tmp_path / "site", Limits(authors=12, documents=12))
    for page in (tmp_path / "site").rglob("*.html"):
        parsed = read(page)
        assert not parsed.inline, page
        assert not any("evil.example" in address or "javascript:" in address for address in parsed.found), page


@pytest.mark.slow
def test_nothing_else_is_replaced(stored, tmp_path):
    target = tmp_path / "site"
    target.mkdir()
    export_site(stored, target, Limits(0, 0))
    assert (target / MARK).exists()
    with pytest.raises(StoreError, match="holds an earlier copy; .* --force"):
        export_site(stored, target, Limits(0, 0))
    (target / "index.html").write_text("changed")
    export_site(stored, target, Limits(0, 0), replace=True)
    assert "changed" not in (target / "index.html").read_text()
    (target / "CNAME").write_text("mine")
    with pytest.raises(StoreError, match="holds more than an earlier copy .CNAME."):
        export_site(stored, target, Limits(0, 0), replace=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="other things in it"):
        export_site(stored, tmp_path / "mine", replace=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        export_site(stored, tmp_path / "file")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "mine", "site"]


def test_a_failure_leaves_nothing_behind(stored, tmp_path, monkeypatch):
    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_site(stored, tmp_path / "site", progress=stop)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreError):
        export_site(tmp_path / "none.topoi", tmp_path / "site")
    assert list(tmp_path.iterdir()) == []


def broken_links(folder: Path) -> list[tuple[str, str]]:
    pages = sorted(folder.rglob("*.html"))
    assert pages
    found = [
        (page, address) for page in pages for address in read(page).found if not address.startswith(("#", "data:"))
    ]
    return [(str(p), a) for p, a in found if not (p.parent / a.partition("#")[0]).resolve().is_file()]


@pytest.mark.slow
def test_some_models_only(stored, tmp_path):
    export_site(stored, tmp_path / "one", Limits(2, 2), names=[name_of(LDA)])
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == [LDA, "index.html", "static", MARK]
    assert broken_links(tmp_path / "one") == []
    assert MAIN not in (tmp_path / "one" / LDA / "models.html").read_text(encoding="utf-8")
    export_site(stored, tmp_path / "two", Limits(2, 2), names=[name_of(LDA), name_of(MAIN)])
    assert {LDA, MAIN} == {p.name for p in (tmp_path / "two").iterdir() if p.is_dir()} - {"static"}
    assert broken_links(tmp_path / "two") == []
    assert (tmp_path / "two" / LDA / "compare" / f"{MAIN}.html").is_file()
    with pytest.raises(NotFoundError, match="there is no model 'five'; there are: "):
        export_site(stored, tmp_path / "none", names=["five"])
    assert not (tmp_path / "none").exists()


def test_without_data_or_with_compressed_data(stored, tmp_path):
    export_site(stored, tmp_path / "plain", Limits(2, 2), names=[name_of(MAIN)])
    export_site(stored, tmp_path / "bare", Limits(2, 2), names=[name_of(MAIN)], data=None)
    export_site(stored, tmp_path / "small", Limits(2, 2), names=[name_of(MAIN)], data="json.gz")
    for name in ("bare", "small"):
        assert broken_links(tmp_path / name) == []
        assert not [p for p in (tmp_path / name / MAIN).rglob("*.json")]
    plain = sorted((tmp_path / "plain" / MAIN).rglob("*.json"))
    for path in plain:
        packed = tmp_path / "small" / path.relative_to(tmp_path / "plain")
        assert gzip.decompress(packed.with_name(f"{packed.name}.gz").read_bytes()) == path.read_bytes()
    assert len(plain) == len(list((tmp_path / "small").rglob("*.json.gz"))) > 20
    pages = {name: sorted(p.name for p in (tmp_path / name).rglob("*.html")) for name in ("plain", "bare", "small")}
    assert pages["plain"] == pages["bare"] == pages["small"]
    assert "as JSON" not in (tmp_path / "bare" / MAIN / "trends.html").read_text(encoding="utf-8")
    assert "trends.json.gz" in read(tmp_path / "small" / MAIN / "trends.html").found


def test_a_page_by_author_for_several_authors_only(site):
    seen = set()
    for path in (site / MAIN / "document").glob("*.json"):
        several = len(json.loads(path.read_text(encoding="utf-8"))["authors"]) > 1
        assert path.with_name(f"{path.stem}-by-author.html").exists() == several
        seen.add(several)
    assert seen == {True, False}


def test_the_command_line_passes_it_on(stored, tmp_path, capsys):
    options = [
        "--format",
        "pages",
        "--authors",
        "1",
        "--documents",
        "1",
        "--name",
        name_of(LDA),
        "--name",
        name_of(MAIN),
        "--gzip",
    ]
    assert main(["export", str(stored), str(tmp_path / "site"), *options]) == 0
    said = capsys.readouterr().err
    size = sum(p.stat().st_size for p in (tmp_path / "site").rglob("*") if p.is_file())
    assert f"files, {size / 1e6:,.1f} MB; open" in said
    assert {p.name for p in (tmp_path / "site").iterdir() if p.is_dir()} == {LDA, MAIN, "static"}
    assert list((tmp_path / "site").rglob("*.json.gz"))
    assert main(["export", str(stored), str(tmp_path / "bare"), *options[:-1], "--no-json"]) == 0
    assert [p.name for p in (tmp_path / "bare").rglob("*.json*")] == [MARK]
    assert main(["export", str(stored), str(tmp_path / "both"), "--no-json", "--gzip"]) == 2
