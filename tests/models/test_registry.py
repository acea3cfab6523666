"""The registry of families, and a family of another package: no file of ours knows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import topoi
from topoi.models import registry
from topoi.models.options import TOPICS, Option

FAMILY = """
from topoi.models.options import SWEEPS, TOPICS, Option
from topoi.models.registry import Family, Model

FAMILY = Family((
    Model(
        "FewTopics", "few-topics", "model of few topics", "few_topics.model",
        "topoi.models.author_topic.posterior:AuthorTopicPosterior",
        (TOPICS.but(default=2), SWEEPS.but(default=6), Option("--shyness", "shyness", float, "How shy it is.", "X")),
        small={"n_topics": 2},
    ),
))
"""
MODEL = '''
from topoi import LDA

class FewTopics(LDA):
    """LDA under another name, with a setting of its own."""

    def __init__(self, n_topics=2, *, shyness=0.5, n_iter=6, n_jobs=None, random_state=None, progress=None):
        super().__init__(n_topics, n_iter=n_iter, n_jobs=n_jobs, random_state=random_state, progress=progress)
        self.shyness = shyness
'''


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed package that offers a family, and one whose family is broken."""
    folder = tmp_path_factory.mktemp("site")
    package = folder / "few_topics"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "family.py").write_text(FAMILY)
    (package / "model.py").write_text(MODEL)
    for name, home in (("few_topics", "few_topics.family"), ("broken", "few_topics.absent")):
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[topoi.families]\n{name} = {home}\n")
    return folder


@pytest.fixture(scope="module")
def run(elsewhere: Path):
    paths = [str(elsewhere), str(Path(topoi.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]

    def run(*command: object) -> str:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1"}
        words = [sys.executable, *map(str, command)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def fitted(run, elsewhere: Path) -> Path:
    papers, path = elsewhere / "papers.jsonl", elsewhere / "papers.topoi"
    words = ["star moon orbit comet", "wheat barley plough harvest"]
    records = [{"id": str(i), "text": f"{words[i % 2]} " * 5, "authors": ["Ann"], "year": 1990 + i} for i in range(20)]
    papers.write_text("\n".join(map(json.dumps, records)))
    options = ["--model", "few_topics", "--shyness", "0.25", "--min-df", "1", "--max-df", "1.0", "-q", "--seed", "3"]
    run("-m", "topoi.cli.main", "fit", papers, "-o", path, *options)
    return path


def test_another_package_is_offered_by_fit(run) -> None:
    shown = run("-m", "topoi.cli.main", "fit", "--help")
    assert "dmr, few-topics." in " ".join(shown.split())
    assert "Only --model few-topics:\n  --shyness X  How shy it is." in shown


def test_another_package_is_fitted_read_and_asked(run, fitted: Path) -> None:
    rows = json.loads(run("-m", "topoi.cli.main", "topics", fitted, "--json"))
    assert sorted({row["topic"] for row in rows}) == [0, 1]
    script = f"""
import topoi
model, view = topoi.load({str(fitted)!r}), topoi.view({str(fitted)!r})
assert type(model).__module__ == "few_topics.model" and model.shyness == 0.25 and model.n_iter_ == 6
assert view.family == "FewTopics" and view.topic_sizes().equals(model.topic_sizes())
assert len(topoi.label_words(view, "star and wheat"))
"""
    run("-c", script)


def test_another_package_is_browsed_by_its_title(run, fitted: Path) -> None:
    script = f"""
import warnings; warnings.simplefilter("ignore")
from fastapi.testclient import TestClient
from topoi.web.app import make_app
client = TestClient(make_app({str(fitted)!r}), base_url="http://127.0.0.1:8765")
name = client.get("/", follow_redirects=False).headers["location"]
assert "model of few topics" in client.get(name).text
for page in ("overview", "topic/0", "document/0", "word/0", "models"):
    assert client.get(f"{{name.rstrip('/')}}/{{page}}.json").status_code == 200, page
"""
    run("-c", script)


def test_a_file_of_a_package_that_is_not_installed_is_refused(fitted: Path) -> None:
    for read in (topoi.load, topoi.view):
        with pytest.raises(topoi.StoreError, match="unknown kind, 'FewTopics'"):
            read(fitted)


def test_every_model_is_what_its_family_says() -> None:
    for model in registry.models().values():
        made = model.model_class(**model.small)
        settings = made.get_params(deep=False)
        assert {option.setting for option in model.options if option.setting} <= settings.keys(), model.name
        assert all(callable(getattr(made, option.after)) for option in model.options if option.after)
        assert {"n_iter", "n_jobs", "random_state", "progress"} <= settings.keys()
        assert sum(each.is_default for each in registry.models().values()) == 1


def test_flags_mean_the_same_everywhere() -> None:
    first: dict[str, Option] = {}
    for model in registry.models().values():
        for option in model.options:
            known = first.setdefault(option.flag, option)
            assert (option.kind, option.metavar, option.short, option.panel) == known[2:3] + known[4:6] + known[14:15]


def test_values_that_are_wrong_are_said() -> None:
    with pytest.raises(ValueError, match="c is none of a, b"):
        TOPICS.but(choices=("a", "b")).value_of("c")
    with pytest.raises(topoi.NotFoundError, match="'nonsense' is none of author-topic, lda"):
        registry.model_named("nonsense")


def test_the_family_in_the_guide_is_one() -> None:
    guide = Path(topoi.__file__).parents[2] / "docs" / "developer" / "new-family.md"
    source = guide.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(source, names)
    (model,) = names["FAMILY"].models  # type: ignore[attr-defined]
    assert model.option == "few-topics" and [option.flag for option in model.options][-1] == "--shyness"
