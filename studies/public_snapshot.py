"""Everything outsiders can see, written to a folder: compare two folders to see what a change of the inside has changed.

    python -m studies.public_snapshot FOLDER
    diff -r BEFORE AFTER

Public names with their signatures; the help of every verb; for each family fitted to one small collection: bits of the
fit, columns and first rows of its frames, the JSON and CSV of its pages, the JSON of its verbs. Numbers are rounded to
six digits.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import random
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import topoi

SUBJECTS = {
    "stars": "star galaxy orbit planet telescope light comet moon",
    "cells": "cell gene protein membrane tissue enzyme virus plasma",
    "courts": "court judge law appeal verdict jury statute trial",
}
PEOPLE = {
    "stars": ["Kepler, J", "Sagan, C"],
    "cells": ["Crick, F", "Franklin, R"],
    "courts": ["Holmes, O", "Warren, E"],
}
TEXT = "A star and its planet before the court"
PAGES = [
    "overview", "topic/0", "topic/1", "authors", "author/0", "document/0", "document/7?samples=2", "documents?q=star", "word/0", "trends",
    "compare", "search?q=star", f"parse?text={TEXT.replace(' ', '+')}", "reviewers?text=star+planet", "structure", "node/1", "metadata", "models",
]  # fmt: skip
VERBS = [
    ["topics"], ["structure"], ["authors"], ["authors", "Kepler, J"], ["label", TEXT], ["trends"], ["documents", "--topic", "0"],
    ["documents", "doc3"], ["words", "star"], ["unusual", "Kepler, J"], ["similar", "Kepler, J"], ["likely", TEXT], ["reviewers", TEXT],
    ["predict", "--year", "1995"], ["coefficients"], ["models"],
]  # fmt: skip
QUESTIONS = [
    "topics()", "authors()", "author_topics('Kepler, J')", "document_topics()", "coefficients()", "diagnostics()",
]  # fmt: skip


def collection() -> topoi.Corpus:
    chance = random.Random(0)
    texts, authors, titles, years = [], [], [], []
    for d in range(48):
        subject = list(SUBJECTS)[d % 3]
        words = SUBJECTS[subject].split()
        texts.append(". ".join(" ".join(chance.choices(words, k=6)) for _ in range(5)))
        authors.append(chance.sample(PEOPLE[subject], chance.randint(1, 2)))
        titles.append(f"On {words[d % len(words)]}, part {d}")
        years.append(1990 + d // 6)
    return topoi.Corpus.from_texts(
        texts, authors=authors, titles=titles, ids=[f"doc{d}" for d in range(48)], dates=years, min_df=1, max_df=1.0,
        metadata={"venue": ["ACL", "NIPS"] * 24},
    )  # fmt: skip


def families() -> dict[str, Any]:
    seed: dict[str, Any] = {"n_iter": 24, "random_state": 0}
    return {
        "author-topic": topoi.AuthorTopicModel(4, prior="paper", **seed),
        "lda": topoi.LDA(4, prior="paper", n_chains=2, **seed),
        "author": topoi.AuthorModel(random_state=0),
        "pachinko": topoi.PachinkoAllocation(2, 4, **seed),
        "graph": topoi.PachinkoAllocation(dag=topoi.Dag.from_levels(2, 3, 4), **seed),
        "sparse": topoi.LDA(4, prior="paper", sparse=True, **seed),
        "aspect": topoi.AspectModel(3, n_iter=20, random_state=0),
        "kernel": topoi.KernelTopicModel(3, features=["year", "authors"], n_iter=20, n_warmup=10, random_state=0),
        "dmr": topoi.DirichletMultinomialRegression(3, features=["year", "venue"], n_warmup=10, **seed),
    }


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def timeless(text: str) -> str:
    text = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\S\d\d:\d\d", "WHEN", text)
    return re.sub(r'("(?:seconds|mtime|size)[^"]*": )[\d.e+-]+', r"\1SOME", text)


def names() -> str:
    lines = []
    for name in sorted(topoi.__all__):
        thing = getattr(topoi, name)
        is_error = inspect.isclass(thing) and issubclass(thing, Exception)
        lines.append(name + (str(inspect.signature(thing)) if callable(thing) and not is_error else ""))
        for method in dir(thing) if inspect.isclass(thing) and not is_error else ():
            if not method.startswith("_"):
                found = inspect.getattr_static(thing, method)
                lines.append(
                    f"    {name}.{method}" + (str(inspect.signature(found)) if inspect.isfunction(found) else "")
                )
    return "\n".join(lines)


def said(arguments: list[str]) -> str:
    from topoi.cli.main import main as run

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    text = out.getvalue()
    try:
        text = json.dumps(rounded(json.loads(text)), indent=1, sort_keys=True, ensure_ascii=False)
    except ValueError:
        pass
    return f"exit {code}\n{text}\n{err.getvalue() if code else ''}"


def bits(model: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(np.round(model.topic_word_, 12)).tobytes()).hexdigest()


def frames(model: Any) -> str:
    parts = []
    for question in QUESTIONS:
        try:
            frame = eval(f"model.{question}", {"model": model})
        except (AttributeError, topoi.TopoiError, TypeError) as error:
            parts.append(f"{question}: {type(error).__name__}: {error}")
            continue
        shown = frame.round(5).to_csv(index=False) if hasattr(frame, "to_csv") else str(frame)
        parts.append(f"{question}:\n{shown}")
    return "\n".join(parts)


def pages(path: Path) -> dict[str, str]:
    from fastapi.testclient import TestClient

    from topoi.web.app import make_app

    client = TestClient(make_app(path), base_url="http://127.0.0.1:8765")
    made = {}
    for page in PAGES:
        way, question, query = page.partition("?")
        for ending in ("json", "csv"):
            answer = client.get(f"/m/m/{way}.{ending}{question}{query}")
            text = answer.text
            if ending == "json" and answer.status_code == 200:
                text = json.dumps(rounded(answer.json()), indent=1, sort_keys=True, ensure_ascii=False)
            made[f"{re.sub(r'[^a-z0-9]+', '-', page)}.{ending}"] = f"{answer.status_code}\n{text}"
    made["openapi.json"] = json.dumps(client.get("/openapi.json").json(), indent=1, sort_keys=True)
    return made


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True)
    (out / "names.txt").write_text(names(), encoding="utf-8")
    (out / "help.txt").write_text(said(["--help"]), encoding="utf-8")
    for verb in re.findall(r"^  (\w+)  ", said(["--help"]).split("Commands:")[1], re.MULTILINE):
        (out / f"help-{verb}.txt").write_text(said([verb, "--help"]), encoding="utf-8")
    corpus = collection()
    for family, model in families().items():
        folder = out / family
        folder.mkdir()
        model.fit(corpus)
        path = folder / "m.topoi"
        model.save(path, name="m")
        (folder / "bits.txt").write_text(bits(model) if hasattr(model, "topic_word_") else "", encoding="utf-8")
        for what, each in (("fitted", model), ("loaded", topoi.load(path)), ("viewed", topoi.view(path))):
            (folder / f"frames-{what}.txt").write_text(frames(each), encoding="utf-8")
        for name, text in pages(path).items():
            (folder / f"page-{name}").write_text(timeless(text.replace(str(out), "OUT")), encoding="utf-8")
        for verb in VERBS:
            words = [verb[0], str(path), *verb[1:], "--json"]
            name = re.sub(r"[^a-z0-9]+", "-", " ".join(verb).lower())
            (folder / f"verb-{name}.txt").write_text(timeless(said(words).replace(str(out), "OUT")), encoding="utf-8")
        path.unlink()
        print(family, flush=True)


if __name__ == "__main__":
    main()
