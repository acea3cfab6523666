"""Make figures and tables of the papers.

    TOPOI_DATA=folder python -m studies.papers at09-fig4 pam-table2      some of them
    TOPOI_DATA=folder python -m studies.papers --all [--missing]         all, or those without numbers
    python -m studies.papers --list                                      their names
    python -m studies.papers --page                                      only the pages, from the numbers there are

Studies with a page of their own are made by the command that is named there, which takes minutes to an hour; here their numbers are read.
"""

from __future__ import annotations

import argparse
import sys

from studies.papers import author_topic, earlier, kernel, pachinko  # noqa: F401 (they enter their studies)
from studies.papers.page import write
from studies.papers.result import STUDIES_BY_NAME, found_before, perform


def main() -> None:
    """Run what is asked for, and write the pages."""
    parser = argparse.ArgumentParser(prog="python -m studies.papers", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="every one")
    parser.add_argument("--missing", action="store_true", help="with --all: only those without numbers")
    parser.add_argument("--list", action="store_true", help="print their names")
    parser.add_argument("--page", action="store_true", help="only write the pages")
    arguments = parser.parse_args()
    if arguments.list:
        for one in STUDIES_BY_NAME.values():
            print(f"{one.name:14s} {one.item}: {one.what}")
        return
    unknown = [name for name in arguments.names if name not in STUDIES_BY_NAME]
    if unknown:
        parser.error(f"no study is called {unknown[0]!r}; --list has their names")
    if not (arguments.names or arguments.all or arguments.page):
        parser.error("name a study, or say --all; --list has their names")
    names = list(STUDIES_BY_NAME) if arguments.all else arguments.names
    for name in names:
        if arguments.missing and found_before(name) is not None:
            continue
        row = perform(STUDIES_BY_NAME[name])
        print(f"{name:14s} {row['verdict']}", flush=True)
    for name in write():
        print(f"{name:14s} not run yet", file=sys.stderr)


if __name__ == "__main__":
    main()
