"""The Python in README.md and docs/ runs: every block of every page, in order, on small data with the same names.

Fits are cut short; the pages' own words for data that a reader brings (``corpus``, ``new``) stand for small corpora.
"""

from __future__ import annotations

import contextlib
import doctest
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import topoi
from shortened import N_ITER, ROOT, run, union

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
QUICK = {"README.md", "docs/tour.md", "docs/author-topic.md", "docs/corpus.md", "docs/exchange.md", "docs/store.md"}
# Blocks that need what no test has: a server on this machine, a Kubernetes cluster.
NOT_RUN = ("http://127.0.0.1", "dask_kubernetes")
SUBJECTS = {
    "Jordan, M": "graphical models variational inference belief networks mixtures experts",
    "Vapnik, V": "support vector machines kernel regression margin classification",
    "Smola, A": "support vector regression kernel methods regularisation functions",
    "Moore, A": "memory based learning robots reinforcement control trees",
}


def blocks(page: str) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the line it begins on."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match.group(1)) for match in found]


def records(n: int = 60) -> list[dict[str, object]]:
    random, names = np.random.default_rng(0), list(SUBJECTS)
    made = []
    for d in range(n):
        author = names[d % 4]
        words = random.choice(SUBJECTS[author].split(), 40)
        made.append(
            {"id": f"P19-{1000 + d}", "title": f"Paper {d}", "authors": [author], "year": 1990 + d % 10}
            | {"text": " ".join(words)}
        )
    return made


def check_session(page: str, line: int, source: str, names: dict[str, object]) -> None:
    """A block of prompts gives what the page says."""
    test = doctest.DocTestParser().get_doctest(source, names, page, page, line - 1)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    told: list[str] = []
    runner.run(test, out=told.append, clear_globs=False)
    assert not runner.failures, "".join(told)
    names.update(test.globs)


def given_names() -> dict[str, object]:
    """What readers bring themselves."""
    corpus = topoi.Corpus.from_records(records())
    links = [["Graph theory"], [], ["Graph theory"], ["x"]] * 3
    linked = topoi.Corpus.from_tokens(
        [["sun", "star"], ["cell", "gene"]] * 6,
        ids=["x", "Graph theory", *(f"d{n}" for n in range(10))],
        metadata={"links": links},
    )
    kernel = topoi.KernelTopicModel(2, features=["links"], n_iter=N_ITER, n_warmup=2, random_state=0)
    return {
        "topoi": topoi,
        "corpus": corpus,
        "new": corpus.subset(range(5)),
        "linked": kernel.fit(linked),
        "frame": {"year": [1893], "authors": [["Grover Cleveland"]]},
        "alpha": np.array([0.5, 1.0, 2.0]),
        "covariance": np.eye(3),
    }


def bring_cluster(monkeypatch, names):
    """A cluster in this process, whatever address the page has."""
    import distributed

    class LocalClient(distributed.Client):
        def __init__(self, address: str) -> None:
            super().__init__(opened.enter_context(cluster))
            opened.enter_context(self)

    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    )
    opened = contextlib.ExitStack()
    monkeypatch.setattr(distributed, "Client", LocalClient)
    topoi.read_corpus("papers.jsonl.gz", on_disk="papers.corpus")
    return opened


def bring_trade(monkeypatch, names):
    """Messages on trade and war, with a subject each."""
    random, subjects = np.random.default_rng(0), ("tariff import export gold", "army troops regiment new")
    texts = [" ".join(random.choice(subjects[d % 2].split(), 30)) for d in range(40)]
    names["corpus"] = topoi.Corpus.from_texts(texts, metadata={"subject": ["trade", "war"] * 20}, max_df=1.0)
    return contextlib.nullcontext()


def bring_paths(monkeypatch, names):
    """A fitted pachinko model and its file."""
    names["model"] = topoi.PachinkoAllocation(2, 4, n_iter=N_ITER, random_state=0).fit(names["corpus"])
    names["model"].save("papers.topoi")
    return contextlib.nullcontext()


def bring_news(monkeypatch, names):
    """A model's file, and records that came later."""
    topoi.LDA(4, n_iter=N_ITER, random_state=0).fit(names["corpus"]).save("papers.topoi")
    later = [record | {"id": f"new-{d}"} for d, record in enumerate(records(8))]
    Path("new.jsonl").write_text("\n".join(map(json.dumps, later)), encoding="utf-8")
    names["new"] = topoi.Corpus.from_records(later)
    return contextlib.nullcontext()


# What the readers of some pages have beside that.
BROUGHT = {
    "docs/cluster.md": bring_cluster,
    "docs/guidance.md": bring_trade,
    "docs/labels.md": bring_paths,
    "docs/updating.md": bring_news,
}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page in QUICK else [pytest.mark.slow]) for page in PAGES if blocks(page)]
)
def test_examples_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = "\n".join(json.dumps(record) for record in records())
    (tmp_path / "papers.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "unsigned.txt").write_text("Support vector machines and kernel regression.", encoding="utf-8")
    small: list[topoi.Corpus] = []

    def load_dataset(name: str, **options: object) -> topoi.Corpus:
        assert name == "state-of-the-union" and set(options) <= {"unit", "max_words"}
        small.append(small[-1] if small else union())
        names["new"] = names["new_corpus"] = small[-1].subset(range(5))
        return small[-1]

    monkeypatch.setattr(topoi, "load_dataset", load_dataset)
    names = given_names()
    with BROUGHT.get(page, lambda *_: contextlib.nullcontext())(monkeypatch, names):
        for line, source in blocks(page):
            if source.startswith(">>>"):
                check_session(page, line, source, names)
            elif not any(word in source for word in NOT_RUN):
                run(page, line, source, names)


def test_the_record_in_the_tour_is_one():
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    shown = re.search(r"^```json\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert shown
    corpus = topoi.Corpus.from_records([json.loads(shown.group(1))], min_df=1, max_df=1.0)
    assert corpus.author_lists() == [["Vapnik, V", "Jordan, M"]] and corpus.documents["year"].tolist() == [1996]


def test_a_failing_example_fails(tmp_path):
    """The tests above can fail: a name that nobody has, a result that is another."""
    names = given_names()
    with pytest.raises(topoi.NotFoundError):
        run("page", 1, 'topoi.AuthorTopicModel(2, n_iter=500).fit(corpus).author_topics("Lincoln")', names)
    with pytest.raises(AssertionError):
        check_session("page", 1, ">>> 1 + 1\n3\n", names)
