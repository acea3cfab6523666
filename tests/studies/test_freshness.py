"""The command that tells which numbers of the documentation are older than their code."""

import subprocess

import pytest

from studies import freshness

DRAW = """\
def draw():
    '''Draw.'''
    return 1  # one


def check(n):
    if n < 0:
        raise ValueError(f"n is {n}")
"""


@pytest.fixture
def project(tmp_path):
    """A study that uses a model, which uses a kernel, and a page that names it."""
    files = {
        "docs/page.md": "Numbers, by `python -m studies.one --fast`:\n\n| a |\n|---|\n| 1 |\n",
        "studies/one.py": "import topoi\n\nprint(topoi.LDA(3))\n",
        "src/topoi/__init__.py": '_HOME = {\n    "LDA": "topoi.models.lda",\n}\n',
        "src/topoi/models/lda.py": "from topoi.kernels.draw import draw\n\n\ndef fit():\n    return draw()\n",
        "src/topoi/kernels/draw.py": DRAW,
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
        ("src/topoi/kernels/draw.py", "n is {n}", "n is {n}; pass a positive number"),
        ("src/topoi/web/page.py", "1", "2"),
    ],
)
def test_comments_docstrings_messages_and_other_modules_do_not_count(project, name, old, new):
    freshness.record(project, "studies.one")
    edit(project, name, old, new)
    assert state(project).state == "fresh"


def test_a_function_may_move_to_another_file(project):
    freshness.record(project, "studies.one")
    text = (project / "src/topoi/kernels/draw.py").read_text(encoding="utf-8")
    first, second = text.split("\n\n\n")
    (project / "src/topoi/kernels/check.py").write_text(second, encoding="utf-8")
    (project / "src/topoi/kernels/draw.py").write_text(
        f"from topoi.kernels.check import check\n\n\n{first}\n", encoding="utf-8"
    )
    assert state(project).state == "fresh"
    edit(project, "src/topoi/kernels/check.py", "n < 0", "n < 1")
    assert state(project).changed == ["src/topoi/kernels/check.py", "src/topoi/kernels/draw.py"]


def test_a_condition_of_an_error_counts(project):
    freshness.record(project, "studies.one")
    edit(project, "src/topoi/kernels/draw.py", "n < 0", "n < 1")
    assert state(project).state == "stale"


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


def test_the_command_of_a_package_is_its_main_module(project):
    for name, text in (("__init__", ""), ("__main__", "import topoi\n\nprint(topoi.LDA(3))\n")):
        (project / "studies" / "many").mkdir(exist_ok=True)
        (project / "studies" / "many" / f"{name}.py").write_text(text, encoding="utf-8")
    edit(project, "docs/page.md", "studies.one", "studies.many")
    assert freshness.main(["--made", "studies.many"], project) == 0 and state(project).state == "fresh"
    edit(project, "src/topoi/kernels/draw.py", "return 1", "return 2")
    assert state(project).state == "stale"


CALLED = {"src/topoi/models/lda.py": ["<module>", "fit"], "src/topoi/kernels/draw.py": ["<module>", "draw"]}


def test_of_a_noted_run_only_what_it_called_counts(project):
    freshness.record(project, "studies.one", called=CALLED)
    edit(project, "src/topoi/kernels/draw.py", "n < 0", "n < 1")
    assert state(project).state == "fresh"
    edit(project, "src/topoi/kernels/draw.py", "return 1", "return 2")
    assert state(project).state == "stale" and state(project).changed == ["src/topoi/kernels/draw.py::draw"]


def test_a_file_of_kernels_counts_whole(project):
    freshness.record(project, "studies.one", called=CALLED | {"src/topoi/kernels/draw.py": ["*"]})
    edit(project, "src/topoi/kernels/draw.py", "n < 0", "n < 1")
    assert state(project).changed == ["src/topoi/kernels/draw.py::check"]


def test_constants_of_loaded_modules_count_but_not_what_writes_pages(project):
    (project / "studies/one.py").write_text(
        "SWEEPS = 3\nPAGE = 'text'\n\n\nclass Row:\n    size = 1\n\n    def part(self):\n        return 1\n\n"
        "    def rest(self):\n        return 2\n\n\ndef page():\n    return PAGE\n",
        encoding="utf-8",
    )
    subprocess.run(["git", "add", "."], cwd=project, check=True)
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"], cwd=project, check=True)
    freshness.record(project, "studies.one", called={"studies/one.py": ["<module>", "Row", "Row.part", "page"]})
    for old, new in (("'text'", "'other text'"), ("return PAGE", "return PAGE + PAGE"), ("return 2", "return 3")):
        edit(project, "studies/one.py", old, new)
        assert state(project).state == "fresh"
    edit(project, "studies/one.py", "SWEEPS = 3", "SWEEPS = 4")
    assert state(project).changed == ["studies/one.py"]
    edit(project, "studies/one.py", "return 1", "return 4")
    assert state(project).changed == ["studies/one.py", "studies/one.py::Row.part"]


def test_commands_of_one_page_are_recorded_together(project):
    freshness.record(project, "studies.one", called={"src/topoi/models/lda.py": ["fit"]})
    freshness.record(project, "studies.one", called={"src/topoi/kernels/draw.py": ["draw"]})
    edit(project, "src/topoi/models/lda.py", "return draw()", "return 1 + draw()")
    assert state(project).state == "stale"


def test_calls_of_an_earlier_commit_can_be_recorded_later(project):
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=project, capture_output=True, text=True, check=True)
    edit(project, "src/topoi/kernels/draw.py", "return 1", "return 2")
    freshness.record(project, "studies.one", called=CALLED, commit=commit.stdout.strip())
    assert state(project).changed == ["src/topoi/kernels/draw.py::draw"]
