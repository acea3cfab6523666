"""Frames a second of the browser's map with many dots, in Chromium without a graphics card.

    python -m benchmarks.map_frames --dots 100000

Serves a page of random places, moves and zooms the map for some seconds, and prints how long the script took to draw a
frame and how many were shown a second. Other programs on the machine make it slower: a tenth of all frames were drawn
within ``quickest ms``, and those they disturb least.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np

from topoi.web.pages.map_codes import coded, coded_places

from .report import Report, add_json, progress

COLUMNS = {
    "dots": "dots|,d",
    "script": "quickest ms|.1f",
    "middle": "median ms|.1f",
    "rate": "frames/s|.0f",
    "shown": "dots while moving|,d",
}
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PAGE = """<!doctype html><html lang="en"><head><link rel="stylesheet" href="/static/style.css">
<link rel="stylesheet" href="/static/map.css"><script src="/static/map.js" defer></script></head>
<body class="map-page"><main><div id="map-tools"><select id="map-colour"></select><input id="map-find">
<button id="map-move"></button><button id="map-lasso"></button><button id="map-in"></button>
<button id="map-out"></button><button id="map-all"></button><output id="map-found"></output></div>
<figure class="map-figure" id="map" data-source="/map.json" data-map="/map" data-document="/document/0"
data-topic="/topic/0"></figure><div id="map-time" hidden></div><ul id="map-legend"></ul></main></body></html>"""
MOVE = """async (seconds) => {
  const map = document.querySelector("#map").map, took = [], gaps = [];
  let last = 0, until = performance.now() + 1000 * seconds, turn = 0;
  await new Promise((done) => {
    const step = (now) => {
      if (last) gaps.push(now - last);
      last = now;
      if (map.lastFrame) took.push(map.lastFrame);
      turn += 1;
      map.moveBy(6 * Math.cos(turn / 9), 6 * Math.sin(turn / 7));
      map.zoomAt(turn % 90 < 45 ? 1.03 : 1 / 1.03);
      if (now < until) requestAnimationFrame(step); else done();
    };
    requestAnimationFrame(step);
  });
  return { took, gaps, shown: map.budget };
}"""


def view(n: int, n_topics: int) -> str:
    """JSON view of a map with so many documents in clusters."""
    chance = np.random.default_rng(0)
    topic = chance.integers(0, n_topics, n)
    middles = chance.random((n_topics, 2))
    places = np.clip(middles[topic] + 0.03 * chance.normal(size=(n, 2)), 0.0, 1.0)
    topics = [
        {"topic": k, "label": None, "auto_label": f"topic {k}", "words": ["word"], "share": 0.01, "hue": k % 360}
        | {"glue": False, "trend": None, "n_documents": int((topic == k).sum())}
        | {"anchor_x": float(middles[k, 0]), "anchor_y": float(middles[k, 1])}
        for k in range(n_topics)
    ]
    points = {"n": n, "places": coded_places(places), "topics": coded(topic, 2), "years": ""}
    points |= {"first_year": None, "last_year": None}
    return json.dumps({"points": points, "topics": topics, "query": "", "colour": None, "first_year": None})


def answering(body: str) -> Callable[[Any], None]:
    """Function that answers requests: the page, its static files, and ``body`` as its data."""

    def answer(route: Any) -> None:
        name = route.request.url.rpartition("/")[2].partition("?")[0]
        if name in ("map.js", "map.css", "style.css"):
            kind = "text/javascript" if name.endswith("js") else "text/css"
            route.fulfill(body=files("topoi.web").joinpath("static", name).read_text("utf-8"), content_type=kind)
        elif name == "map.json":
            route.fulfill(body=body, content_type="application/json")
        else:
            route.fulfill(body=PAGE, content_type="text/html")

    return answer


def main() -> None:
    """Measure and print a table."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dots", type=int, nargs="+", default=[100_000])
    parser.add_argument("--topics", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=5.0)
    add_json(parser)
    given = parser.parse_args()
    program = os.environ.get("TOPOI_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    report, rows = Report(), []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        for n in given.dots:
            progress(f"{n:,} dots")
            page = chromium.new_page(viewport={"width": 1440, "height": 900})
            page.route("**/*", answering(view(n, given.topics)))
            page.goto("http://127.0.0.1/map")
            page.wait_for_selector("#map[data-ready]")
            found = page.evaluate(MOVE, given.seconds)
            took, gaps = np.sort(found["took"]), np.array(found["gaps"])
            rows.append(
                {"dots": n, "script": float(took[: max(len(took) // 10, 1)].max()), "middle": float(np.median(took))}
                | {"rate": 1000.0 / float(np.mean(gaps)), "shown": found["shown"]}
            )
            page.close()
        chromium.close()
    report.section("frames", "Frames of the map", rows, COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
