"""The manual: every page has its place, every link leads somewhere, every example of the new pages runs as it stands.

Pages for newcomers get nothing from the test but an empty folder and a State of the Union of a hundred short speeches:
what they need besides, they have to make themselves.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml
from studies.sessions import session

import topoi
from shortened import ROOT, run, union
from test_examples import blocks, check_session
from topoi.cli.main import app, main

DOCS = ROOT / "docs"
NEWCOMERS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (DOCS / "index.md", DOCS / "tutorial.md", DOCS / "choosing.md")
    + tuple((DOCS / "how-to").glob("*.md"))
    + tuple((DOCS / "moving").glob("*.md"))
    + (DOCS / "developer" / "architecture.md",)
)
QUICK = {"docs/index.md", "docs/how-to/languages.md", "docs/how-to/sharing.md", "docs/moving/scikit-learn.md"}
# Pages that speak of ids and words which only the whole collection has.
WHOLE = {"docs/tutorial.md", "docs/how-to/seeds-and-editing.md"}
VERBS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose functions are names of other packages."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
CONFIG = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)


def load_build(name):
    """A module of docs/_build; the hooks need mkdocs, which tests do not have."""
    specification = importlib.util.spec_from_file_location(name, DOCS / "_build" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def listed(entries):
    for entry in entries:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(value, list):
            yield from listed(value)
        else:
            yield value


def elsewhere():
    """Pages that live outside docs/, as the hooks have them: source and place."""
    text = (DOCS / "_build" / "hooks.py").read_text(encoding="utf-8")
    table = re.search(r"^ELSEWHERE = \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)[1]
    return dict(re.findall(r'"([^"]+)": "([^"]+)"', table))


def slugs(text):
    """Anchors of a page's headings, as GitHub and the manual make them."""
    found = []
    for heading in re.findall(r"^#{1,6} (.+?)\s*#*$", FENCE.sub("", text), re.MULTILINE):
        given = re.search(r"\{ *#(\S+) *\}$", heading)
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).lower()
        slug = given[1] if given else re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        found.append(f"{slug}-{n}" if (n := found.count(slug)) else slug)
    return set(found)


def pages():
    there = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    return [*there, *(ROOT / name for name in (*elsewhere(), "README.md"))]


def test_the_navigation_lists_every_page_once():
    inside = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "_build" not in path.parts}
    found = list(listed(CONFIG["nav"]))
    assert sorted(found) == sorted(inside | set(elsewhere().values()))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        assert place.exists(), f"{target}: no such file"
        described = place.suffix == ".md" and "reference" in place.parts and anchor.startswith("topoi.")
        if anchor and place.suffix == ".md":
            text_there = place.read_text(encoding="utf-8")
            assert anchor in slugs(text_there) or (described and f"::: {anchor}\n" in text_there), (
                f"{target}: no heading"
            )


def test_a_broken_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Here\n\n[there](nowhere.md)\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="no such file"):
        test_links_lead_somewhere(page)
    page.write_text("# Here\n\n[there](#here) [and](#not-here)\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="#not-here: no heading"):
        test_links_lead_somewhere(page)


def test_the_reference_has_every_public_name():
    reference = load_build("reference")
    found = [
        name for page in (DOCS / "reference").glob("*.md") for name in reference.directives(page.read_text("utf-8"))
    ]
    assert len(found) == len(set(found)), "described twice"
    modules = {name for name in topoi.__all__ if inspect.ismodule(getattr(topoi, name))}
    wanted = {f"topoi.{name}" for name in topoi.__all__ if name not in modules} | {"topoi.laplace_bridge"}
    wanted |= {
        f"topoi.{module}.{name}" for module in modules for name in getattr(getattr(topoi, module), "__all__", ())
    }
    assert wanted <= set(found)


@pytest.mark.parametrize("page", sorted((DOCS / "reference").glob("*.md")), ids=lambda page: page.stem)
def test_the_reference_is_written(page):
    """Every directive is filled in, with a signature that is right and nothing of the markup left over."""
    reference = load_build("reference")
    text = reference.described(page.read_text(encoding="utf-8"))
    assert ":::" not in text and ":func:" not in text and "\n----" not in text
    assert "options:" not in text, "another generator's markup"
    assert not re.search(r"^### (\w+)\.\1 \{", text, re.MULTILINE), "a module described in place of its function"
    if page.stem == "models":
        assert "### LDA.transform {" in text and "    n_topics=100" in text
        assert text.count(".perplexity {") < text.count("\n## "), "what all models share is described once"


def commands(page):
    """Lines of a page's shell blocks that call topoi, each as its words."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["topoi"]:
                yield words[1:]


def run_command(words):
    """Run a command if the file it begins with is there; its verb and its options must exist in any case."""
    verb = VERBS[words[0]]
    options = {name for each in verb.params for name in (*each.opts, *each.secondary_opts)}
    typed = {word.split("=")[0] for word in words[1:] if re.match(r"--?[a-zA-Z]", word)}
    assert typed <= options, f"topoi {words[0]} has no {sorted(typed - options)}"
    source = next((word for word in words[1:] if not word.startswith("-")), None)
    if source and Path(source).exists() and words[0] != "browse":
        assert main(words) == 0, " ".join(words)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page in QUICK else [pytest.mark.slow]) for page in NEWCOMERS]
)
def test_newcomers_can_follow(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if page in WHOLE:
        monkeypatch.delenv("COLUMNS")  # tables as wide as they are
        found = list(session((ROOT / page).read_text(encoding="utf-8")))
        assert found and [each for each in found if not each.same] == []
        return
    monkeypatch.setattr(topoi, "load_dataset", lambda name, unit=None, **options: union())
    names = {"__name__": "__main__"}
    for line, source in blocks(page):
        if source.startswith(">>>"):
            check_session(page, line, source, names)
        else:
            run(page, line, source, names)
    for words in commands(page):
        run_command(words)


def test_a_wrong_command_is_noticed():
    with pytest.raises(KeyError):
        run_command(["fitt", "papers.csv"])
    with pytest.raises(AssertionError, match="has no"):
        run_command(["fit", "papers.csv", "--no-such-option"])


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("# Title\n\n```\ncode\n```\n\nWhat `it` [is](a.md). And\nmore.\n\nNext.", "What it is. And more."),
        (
            "# Title\n\n1. First.\n\n    indented\n\nBy Rosen-Zvi et al. and M. Jordan. Made by",
            "By Rosen-Zvi et al. and M. Jordan.",
        ),
        ("# Title\n\n" + "word " * 100, " ".join(["word"] * 47) + " …"),
        ("# Title\n\n| a | b |\n|---|---|\n| c | d |", ""),
    ],
)
def test_a_page_is_summed_up_by_its_first_sentences(page, expected):
    assert load_build("summary").summary(page) == expected
