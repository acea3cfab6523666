"""Hooks of mkdocs: pages that live outside docs/, links to them, and a check that nothing comes from another host."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from reference import described  # noqa: E402

# Files of the repository that are pages of the manual, too: source, and place in the manual.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "developer/contributing.md",
    "examples/notebooks/README.md": "how-to/notebooks.md",
    "examples/unigram_mixture/README.md": "developer/example-family.md",
    "src/topoi/models/ctm/README.md": "equations/ctm.md",
    "src/topoi/models/hdp/README.md": "equations/hdp.md",
    "src/topoi/models/plsi/README.md": "equations/plsi.md",
}
# Files that are no pages, for readers to have.
NOTEBOOKS = {
    path.relative_to(ROOT).as_posix(): f"how-to/{path.name}"
    for path in (ROOT / "examples" / "notebooks").glob("*.ipynb")
}
_SOURCE = {place: source for source, place in ELSEWHERE.items()}
_LINK = re.compile(r"(?<!\!)\[(?P<text>[^\]\[]*)\]\((?P<to>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
_FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>", re.IGNORECASE
)


def on_config(config: MkDocsConfig) -> None:
    """Let the reference import the package of this checkout (mkdocs resets the path after it has read hooks)."""
    sys.path.insert(0, str(ROOT / "src"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and the notebooks that live outside docs/."""
    for source, place in (ELSEWHERE | NOTEBOOKS).items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Make links right that lead out of docs/, or stand in a page from elsewhere.

    A file that is no page of the manual is named instead of linked.
    """
    place = page.file.src_uri
    if place.startswith("reference/"):
        return described(markdown)
    return redirected(markdown, _SOURCE.get(place, f"docs/{place}"), place)


def redirected(markdown: str, source: str, place: str) -> str:
    """Links of the file ``source``, as they must be in the page ``place`` of the manual."""

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["to"]))
        inside = (ELSEWHERE | NOTEBOOKS).get(
            target, target.removeprefix("docs/") if target.startswith("docs/") else None
        )
        if inside is None:
            if not (ROOT / target).exists():
                return match[0]  # mkdocs will complain
            return f"{match['text']} (`{target}`)"
        return f"[{match['text']}]({posixpath.relpath(inside, posixpath.dirname(place) or '.')}{match['anchor'] or ''})"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a manual that would fetch something from another host."""
    for path in Path(config.site_dir).rglob("*.html"):
        for tag in _FETCHED.findall(path.read_text(encoding="utf-8")):
            if 'rel="canonical"' not in tag:
                raise PluginError(f"{path.name} fetches from another host: {tag[:200]}")
