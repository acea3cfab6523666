"""The command that tells which numbers of the documentation are older than their code."""

import subprocess

import pytest

from studies import freshness


@pytest.fixture
def project(tmp_path):
    """A study that uses a model, which uses a kernel, and a page that names it."""
    files = {
        "docs/page.md": "Numbers, by `python -m studies.one --fast`:\n\n| a |\n|---|\n| 1 |\n",
        "studies/one.py": "import topoi\n\nprint(topoi.LDA(3))\n",
        "src/topoi/__init__.py": '_HOME = {\n    "LDA": "topoi.models.lda",\n}\n',
        "src/topoi/models/lda.py": "from topoi.kernels.draw import draw\n\n\ndef fit():\n    return draw()\n",
        "src/topoi/kernels/draw.py": 'def draw():\n    """Draw."""\n    return 1  # one\n',
        "src/topoi/web/page.py": "shown = 1\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def state(project):
    (only,) = freshness.states(project)
    return only


def edit(project, name, old, new):
    path = project / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_changed_file_is_noticed_however_deep(project, capsys):
    assert state(project).state == "unrecorded" and freshness.main([], project) == 1
    assert freshness.main(["--made", "studies.one"], project) == 0
    assert state(project).state == "fresh" and freshness.main([], project) == 0
    edit(project, "src/topoi/kernels/draw.py", "return 1", "return 2")
    found = state(project)
    assert found.state == "stale" and found.changed == ["src/topoi/kernels/draw.py"]
    assert freshness.main([], project) == 1
    assert "changed since: src/topoi/kernels/draw.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("src/topoi/kernels/draw.py", "# one", "# the first"),
        ("src/topoi/kernels/draw.py", "Draw.", "Draw from nothing."),
        ("src/topoi/web/page.py", "1", "2"),
    ],
)
def test_comments_docstrings_and_other_modules_do_not_count(project, name, old, new):
    freshness.record(project, "studies.one")
    edit(project, name, old, new)
    assert state(project).state == "fresh"


def test_first_records_are_of_the_commit_that_changed_the_table(project):
    edit(project, "src/topoi/kernels/draw.py", "return 1", "return 2")
    assert freshness.record_from_git(project) == [freshness.Figure("docs/page.md", "studies.one")]
    assert state(project).state == "stale"
    assert freshness.record_from_git(project) == []


def test_a_command_that_is_gone_is_told(project):
    (project / "studies" / "one.py").unlink()
    assert state(project).state == "gone"


def test_an_unknown_module_cannot_be_recorded(project, capsys):
    assert freshness.main(["--made", "studies.two"], project) == 2
    assert "no page names python -m studies.two" in capsys.readouterr().out


def test_our_own_studies_depend_on_their_samplers():
    read = freshness.on_disk(freshness.ROOT)
    needed = freshness.sources("studies.namesakes", read)
    assert "src/topoi/models/author_topic/kernels.py" in needed and "src/topoi/kernels/draw.py" in needed
    assert not any(path.startswith("src/topoi/web/") for path in needed)
