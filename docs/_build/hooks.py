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

from formulas import typeset  # noqa: E402
from reference import described  # noqa: E402
from summary import summary  # noqa: E402

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
# The browser's fonts, which the manual is set in, too.
FONTS = ROOT / "src" / "topoi" / "web" / "static" / "fonts"
_SOURCE = {place: source for source, place in ELSEWHERE.items()}
# How much pages count in the search: most those for people with a question, least what changed long ago.
WEIGHTS = {
    **dict.fromkeys(("tutorial.md", "tour.md", "choosing.md", "how-to/", "questions.md", "evaluation.md"), 2.0),
    **dict.fromkeys(("studies/", "changelog.md", "developer/", "benchmarks.md", "correctness.md"), 0.5),
    "developer/before-0.1.md": 0.1,
}
_HEAVIEST = sorted(WEIGHTS, key=len, reverse=True)
_LINK = re.compile(r"(?<!\!)\[(?P<text>[^\]\[]*)\]\((?P<to>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
_PROMPT = re.compile(r'<span class="gp">([^<]*)</span>')
_PICTURE = re.compile(r'<img [^>]*src="(?P<path>[^"]*)\.png"[^>]*>')
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_CELL = re.compile(r"<t[hd](?:\s[^>]*)?>(.*?)</t[hd]>", re.DOTALL)
# Letters of a cell above which its column is wide on a phone, too, where the table is pushed aside.
_LONG_CELL = 100
_FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>", re.IGNORECASE
)


def on_config(config: MkDocsConfig) -> None:
    """Let the reference import the package of this checkout (mkdocs resets the path after it has read hooks)."""
    sys.path.insert(0, str(ROOT / "src"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, the notebooks and the fonts that live outside docs/."""
    for source, place in (ELSEWHERE | NOTEBOOKS).items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
    for font in sorted(FONTS.iterdir()):
        files.append(File.generated(config, f"assets/fonts/{font.name}", abs_src_path=str(font)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Make links right that lead out of docs/, or stand in a page from elsewhere.

    A file that is no page of the manual is named instead of linked.
    """
    place = page.file.src_uri
    page.meta.setdefault("description", summary(markdown) or config.site_description)
    page.meta.setdefault("search", {"boost": next((WEIGHTS[to] for to in _HEAVIEST if place.startswith(to)), 1.0)})
    if place.startswith("reference/"):
        return described(markdown)
    return redirected(markdown, _SOURCE.get(place, f"docs/{place}"), place)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Leave prompts of a terminal and of Python to the style sheet, so that they are not copied with what follows them.

    Pictures that exist in dark, too, are shown so in the dark. Columns of long texts are marked, and formulas typeset.
    """
    if not page.file.src_uri.startswith("reference/"):
        html = typeset(html)
    html = _PROMPT.sub(lambda match: f'<span class="gp" data-prompt="{match[1]}"></span>', html)
    return _TABLE.sub(long_columns_marked, _PICTURE.sub(in_both_schemes, html))


def long_columns_marked(match: re.Match[str]) -> str:
    """A table whose headings have the class "long" where a cell below has a long text."""
    rows = [_CELL.findall(row) for row in match[0].split("</tr>")]
    longest = [
        max(len(re.sub("<[^>]*>", "", cell)) for cell in column) for column in zip(*filter(None, rows), strict=True)
    ]
    column = iter(longest)
    return re.sub("<th\\b", lambda th: '<th class="long"' if next(column) > _LONG_CELL else th[0], match[0])


def in_both_schemes(match: re.Match[str]) -> str:
    """A picture that leads to itself in full size, and beside it the one for the dark."""

    def shown(file: str) -> str:
        return f'<a href="{file}">{match[0].replace(match["path"] + ".png", file)}</a>'

    if not (ROOT / "docs" / f"{posixpath.basename(match['path'])}-dark.png").exists():
        return shown(f"{match['path']}.png")
    return shown(f"{match['path']}.png#only-light") + shown(f"{match['path']}-dark.png#only-dark")


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
