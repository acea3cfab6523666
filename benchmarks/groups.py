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
from typing import Any

from starlette.testclient import TestClient

import topoi
from topoi.web.app import make_app

from .report import Report, add_json

COLUMNS = {"by": "by", "group": "group", "seconds": "CPU s|.2f", "clear": "clearly differ", "n_topics": "of topics"}


def measured(client: TestClient, slug: str, by: str, group: str) -> dict[str, Any]:
    """Processor seconds of a page, the number of topics that clearly differ, and of all."""
    query = urllib.parse.urlencode({"by": by, "group": group})
    began = time.process_time()
    answer = client.get(f"/m/{slug}/groups.json?{query}")
    spent = time.process_time() - began
    page = answer.raise_for_status().json()
    if page["error"]:
        raise SystemExit(page["error"])
    return {"by": by, "group": group, "seconds": spent, "clear": page["n_clear"], "n_topics": page["n_topics"]}


def main() -> None:
    """Print a row per group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--by", default="year")
    parser.add_argument("groups", nargs="+")
    add_json(parser)
    given, report = parser.parse_args(), Report()
    client = TestClient(make_app(given.file), base_url="http://127.0.0.1:8765", follow_redirects=True)
    slug = urllib.parse.quote(topoi.open_store(given.file).models()["name"].iloc[0])
    rows = [measured(client, slug, given.by, group) for group in given.groups]
    report.section("groups", "The page of groups", rows, COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
