"""The README's pictures of the browser: State of the Union addresses, as `topoi demo` fits them.

    topoi demo --no-browse && python -m studies.browser_pictures state-of-the-union.topoi

Needs chromium, playwright and pillow. Writes docs/browser-topics.png, docs/browser-map.png, docs/browser-author.png,
docs/browser-document.png and, from a pachinko model of the same addresses that is fitted and added to a copy of the file if there is
none, docs/browser-structure.png. docs/browser-metadata.png is from a kernel topic model of whole speeches, in a file of its own
beside the other. Those of the manual are also made in dark, as docs/browser-topics-dark.png and so on, which its hooks show in the
dark. Documents get their places on the map if they have none.
"""

from __future__ import annotations

import argparse
import json
import shutil
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
# What a page is wide here is near to what the picture is wide in the manual, so that its letters are hardly smaller than those around it.
WIDTH, HEIGHT, SCALE = 1040, 760, 2
N_COLOURS = 256
PRESIDENT = "Theodore Roosevelt"
PRESIDENTS = ("Grover Cleveland", "Theodore Roosevelt")
N_SUPER, N_SUB = 10, 50
PASSAGE = "gold silver currency treasury notes"
TITLE = "State of the Union"
SENTENCE = "What presidents told Congress, every year since 1790, passage by passage."


@contextmanager
def served(file: Path) -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    import uvicorn

    from topoi.web.app import make_app
    from topoi.web.run import listen

    with listen("127.0.0.1", 0) as door:
        port = door.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(make_app(file, port=port), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.05)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


def ask(address: str) -> dict[str, object]:
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)


def add_structure(file: Path) -> None:
    """See to it that the file has a model over a graph."""
    import topoi

    with topoi.open_store(file) as store:
        if (store.models()["model"] == "PachinkoAllocation").any():
            return
    corpus = topoi.load_dataset("state-of-the-union", unit="passage")
    topoi.PachinkoAllocation(N_SUPER, N_SUB, n_iter=600, random_state=0).fit(corpus).save(file, name="structure")


def speeches(file: Path) -> Path:
    """A file with a model that reads metadata."""
    import topoi

    if not file.exists():
        corpus = topoi.load_dataset("state-of-the-union", unit="speech", max_words=5000)
        model = topoi.KernelTopicModel(10, features=["year", "authors"], random_state=0)
        model.fit(corpus).save(file, name="kernel topics")
    return file


def shoot(browser: Any, name: str, address: str, scheme: str) -> None:
    size = {"width": WIDTH, "height": HEIGHT}
    page = browser.new_page(viewport=size, device_scale_factor=SCALE, color_scheme=scheme)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)  # the map is drawn after its data have come
    page.screenshot(path=DOCS / f"{name}.png")
    page.close()
    shrink(DOCS / f"{name}.png")
    print(DOCS / f"{name}.png", address)


def shrink(path: Path) -> None:
    """Write a picture with a palette, a third of its size and to the eye the same."""
    from PIL import Image

    with Image.open(path) as picture:
        # Rare hues, such as those of small topics, are kept.
        few = picture.convert("RGB").quantize(N_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def titled(file: Path) -> Path:
    """A copy of the demo's file that has a title, and places of documents."""
    import topoi

    copy = file.with_name("pictures.topoi")
    if not copy.exists():
        shutil.copy(file, copy)
    with topoi.open_store(copy) as store:
        store.set_about(TITLE, SENTENCE)
        if topoi.view(store, "AuthorTopicModel").document_places() is None:
            store.place_documents("AuthorTopicModel")
    return copy


def pictures(address: str) -> dict[str, tuple[str, str]]:
    """For each picture the page, and whether in light or dark."""
    with urllib.request.urlopen(address) as answer:
        models = ask(f"{answer.url}models.json")["models"]
    slug = {model["family"]: model["slug"] for model in models}  # type: ignore[index, attr-defined]
    root = f"{address}/m/{slug['AuthorTopicModel']}/"
    found = ask(f"{root}search.json?q={PRESIDENT.replace(' ', '+')}")
    president = next(row["author_id"] for row in found["authors"])  # type: ignore[index]
    passages = ask(f"{root}documents.json?q={PASSAGE.replace(' ', '+')}")["documents"]
    passage = next(row["document"]["document_id"] for row in passages)  # type: ignore[index, attr-defined]
    return {
        "browser-topics": (root, "light"),
        "browser-topics-dark": (root, "dark"),
        "browser-map": (f"{root}map", "dark"),
        "browser-author": (f"{root}author/{president}", "light"),
        "browser-author-dark": (f"{root}author/{president}", "dark"),
        "browser-document": (f"{root}document/{passage}", "light"),
        "browser-structure": (f"{address}/m/{slug['PachinkoAllocation']}/structure", "light"),
        "browser-structure-dark": (f"{address}/m/{slug['PachinkoAllocation']}/structure", "dark"),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    options.add_argument("file", type=Path)
    given = options.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    file = titled(given.file)
    add_structure(file)
    with served(file) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (page_address, scheme) in pictures(address).items():
            shoot(browser, name, page_address, scheme)
        with served(speeches(given.file.with_name("speeches.topoi"))) as other:
            chosen = "&".join(f"value={name.replace(' ', '+')}" for name in PRESIDENTS)
            for name, scheme in (("browser-metadata", "light"), ("browser-metadata-dark", "dark")):
                shoot(browser, name, f"{other}/m/kernel~20topics/metadata?{chosen}", scheme)
        browser.close()


if __name__ == "__main__":
    main()
