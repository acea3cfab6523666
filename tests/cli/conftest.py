"""A tiny collection, fitted once, and a way to run the command line as a user does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from topoi.cli.main import main

SEA = "ship harbor sail anchor captain voyage sailor port cargo tide".split()
FIELD = "wheat harvest plough farmer barley orchard meadow cattle barn seed".split()
COURT = "judge verdict trial jury statute appeal counsel witness sentence bench".split()
PEOPLE = [("Drake, F", SEA, 1800), ("Cook, J", SEA, 1810), ("Tull, J", FIELD, 1850), ("Coke, E", COURT, 1890)]


@dataclass
class Run:
    """What one run of the command line gave."""

    code: int
    out: str
    err: str


@pytest.fixture
def topoi(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Run the command line in this process."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> Run:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


def write_papers(path: Path, n_docs: int = 48) -> Path:
    """Documents by four people on three subjects, over a century."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as lines:
        for i in range(n_docs):
            author, subject, year = PEOPLE[i % len(PEOPLE)]
            text = " ".join(rng.choice(subject, size=30))
            record = {"id": f"p{i}", "title": f"Paper {i}", "text": text, "authors": [author], "year": year + i // 10}
            lines.write(json.dumps(record) + "\n")
    return path


FIT = ["--topics", "3", "--iterations", "60", "--alpha", "0.1", "--jobs", "1", "--quiet"]


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_papers(tmp_path_factory.mktemp("papers") / "papers.jsonl")


@pytest.fixture(scope="session")
def model_file(papers: Path) -> Path:
    path = papers.with_name("papers.topoi")
    assert main(["fit", str(papers), "-o", str(path), *FIT]) == 0
    return path


@pytest.fixture(scope="session")
def lda_file(papers: Path) -> Path:
    path = papers.with_name("lda.topoi")
    assert main(["fit", str(papers), "--model", "lda", "-o", str(path), *FIT]) == 0
    return path


@pytest.fixture(scope="session")
def author_file(papers: Path) -> Path:
    path = papers.with_name("author.topoi")
    assert main(["fit", str(papers), "--model", "author", "-i", "5", "-q", "-o", str(path)]) == 0
    return path
