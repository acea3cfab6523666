"""Rules of accessibility that pages break, by axe-core, in light and dark, wide and narrow.

axe-core is on the npm registry: `npm pack axe-core`, unpack it, and name its axe.min.js; the pages are those of a running browser:

    topoi browse papers.topoi --no-open --port 8765 &
    python -m studies.browser_accessibility package/axe.min.js http://127.0.0.1:8765/m/AuthorTopicModel/ trends topic/3 author/1

Needs playwright and a chromium; TOPOI_CHROMIUM names one that is not found by itself.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
PAGES = ("", "topic/3", "author/1", "authors", "document/5", "documents", "word/2", "trends", "groups", "models")
MORE = (
    "compare",
    "search?q=law",
    "parse",
    "parse?text=law&who=any",
    "reviewers",
    "reviewers?text=law",
    "submissions",
    "history",
)
ALSO = ("map", "together", "oddities", "names", "documents?q=law", "document/5?colour=author", "topic/99999")
RUN = "() => axe.run(document, { rules: { 'target-size': { enabled: true } } }).then(found => found.violations)"


def main(axe: str, address: str, *pages: str) -> None:
    """Print every rule that a page breaks; exit with 1 if there is any."""
    program = os.environ.get("TOPOI_CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)
    n_looked_at, broken = 0, 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        for scheme in ("light", "dark"):
            for width in (1440, 390):
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
                )
                page = context.new_page()
                page.set_default_timeout(120_000)
                for path in pages or (*PAGES, *MORE, *ALSO):
                    page.goto(address + path)
                    page.add_script_tag(content=Path(axe).read_text(encoding="utf-8"))
                    broken += report(f"{path or 'overview'} {scheme} {width}", page.evaluate(RUN))
                    n_looked_at += 1
                context.close()
        browser.close()
    print(f"{n_looked_at} page views, {broken} rules broken")
    sys.exit(1 if broken else 0)


def report(where: str, violations: list[dict[str, Any]]) -> int:
    """Print rules that a page breaks, with the first places; return their number."""
    for rule in violations:
        places = [node["html"][:160] for node in rule["nodes"][:3]]
        print(where, rule["id"], len(rule["nodes"]), *places, sep="\n    ")
    return len(violations)


if __name__ == "__main__":
    main(*sys.argv[1:])
