"""Processor seconds of the browser's page of groups, asked for in this process; every page is of other groups.

    python -m benchmarks.groups papers.topoi --by year 2020.. 2010..2019 2000..2009 ..1999

The first page also reads the documents' columns, which the others find in memory; pages that were answered before are
kept, so a group is asked for once.
"""

from __future__ import annotations

import argparse
import time
import urllib.parse
from pathlib import Path

from starlette.testclient import TestClient

import topoi
from topoi.web.app import make_app


def page_seconds(client: TestClient, slug: str, by: str, group: str) -> tuple[float, int, int]:
    """Processor seconds of a page, the number of topics that clearly differ, and of all."""
    query = urllib.parse.urlencode({"by": by, "group": group})
    began = time.process_time()
    answer = client.get(f"/m/{slug}/groups.json?{query}")
    spent = time.process_time() - began
    page = answer.raise_for_status().json()
    if page["error"]:
        raise SystemExit(page["error"])
    return spent, page["n_clear"], page["n_topics"]


def main() -> None:
    """Print a line per group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--by", default="year")
    parser.add_argument("groups", nargs="+")
    given = parser.parse_args()
    client = TestClient(make_app(given.file), base_url="http://127.0.0.1:8765", follow_redirects=True)
    slug = topoi.open_store(given.file).models()["name"].iloc[0]
    for group in given.groups:
        spent, n_clear, n_topics = page_seconds(client, urllib.parse.quote(slug), given.by, group)
        print(f"{given.by} {group}: {spent:.2f} s, {n_clear} of {n_topics} topics differ clearly", flush=True)


if __name__ == "__main__":
    main()
