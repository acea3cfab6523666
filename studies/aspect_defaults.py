"""Which alpha, smoothing and end of a fit serve the aspect model best: held-out perplexity beside LDA's.

    TOPOI_DATA=folder python -m studies.aspect_defaults [--part choose,stop,report,before] [--split 0]
    python -m studies.aspect_defaults --page       writes the page again from the numbers there are

Defaults are chosen on three corpora (part ``choose``; ``stop`` for the criterion) and reported on four others (part
``report``; ``before`` for what the defaults were). Every fit is written to docs/studies/aspect-defaults.json when it is
done, and a run goes on where the last ended. About 25 minutes of one thread for each split.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import topoi
from topoi.models.aspect import learning

OUT = Path(__file__).parents[1] / "docs" / "studies"
NUMBERS = OUT / "aspect-defaults.json"
UNION = "state-of-the-union"
# Documents of each corpus: so many that a fit takes seconds.
CHOOSE = {"nips12-abstracts": 600, "cacm": 1500, "nips12": 40}
REPORT = {"cranfield": 700, UNION: 500, "newsgroups20": 800, "wikipedia-science": 60}
SIZES, SPLITS, TEST = (10, 50), (0, 1), 0.1
ALPHAS: tuple[float | str, ...] = (0.1, "1/K", 0.5)
# What alpha is in a row that is put together of the others' cells, by the number of aspects: 5 / K, at most 0.5.
COMPOSED = {10: "alpha 0.5", 50: "alpha 0.1"}
SMOOTHINGS = (0.0, 0.01, 0.05, 0.1, 0.5)
TOLS = (0.01, 0.003, 0.001, 0.0003, 0.0001)
# Of the grid: fits with a learned alpha do not end by themselves.
MOST_STEPS = 200
PAPER = {"alpha": 1.0, "learn_alpha": True, "smoothing": 0.0}
# The defaults before this study, with their end: 500 steps at most, to 0.0001.
BEFORE = PAPER | {"n_iter": 500, "tol": 0.0001}
FLOOR = 0.05
# The first is the papers': alpha = 50 / topics. The last is what ``topoi.LDA`` does if nothing is said: both are learned.
BASELINES: dict[str, dict[str, Any]] = {
    "LDA": {"prior": "paper", "beta": 0.01},
    "LDA, beta 0.1": {"prior": "paper", "beta": 0.1},
    "LDA, alpha 0.1": {"prior": "paper", "alpha": 0.1, "beta": 0.01},
    "LDA, alpha 0.1, beta 0.1": {"prior": "paper", "alpha": 0.1, "beta": 0.1},
    "LDA, learned": {},
}


def corpus(name: str, n_docs: int) -> topoi.Corpus:
    """Some documents, of words that at least two of them have."""
    whole = topoi.load_dataset(UNION, unit="passage") if name == UNION else topoi.load_dataset(name)
    chosen = np.sort(np.random.default_rng(0).permutation(whole.n_docs)[:n_docs])
    start, words = whole.doc_start, whole.vocabulary.words
    texts = [list(words[whole.tokens[start[d] : start[d + 1]]]) for d in chosen]
    times = Counter(word for text in texts for word in set(text))
    return topoi.Corpus.from_tokens([[word for word in text if times[word] > 1] for text in texts])


def grid(n_topics: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is compared to choose defaults: a name, and settings of the aspect model (``floor``: of learned alpha)."""
    for alpha in ALPHAS:
        value = 1.0 / n_topics if alpha == "1/K" else float(alpha)
        for smoothing in SMOOTHINGS:
            yield f"alpha {alpha}|{smoothing}", {"alpha": value, "learn_alpha": False, "smoothing": smoothing}
    for smoothing in (0.0, 0.05):
        yield f"alpha learned|{smoothing}", PAPER | {"smoothing": smoothing}
    for smoothing in (0.05, 0.1):
        yield f"alpha learned, at least {FLOOR}|{smoothing}", PAPER | {"smoothing": smoothing, "floor": FLOOR}


def fits(part: str, n_topics: int) -> Iterator[tuple[str, Any, float]]:
    """Models to fit, and the least alpha that they may learn."""
    least = learning.ALPHA_RANGE[0]
    if part == "choose":
        for name, settings in grid(n_topics):
            floor = settings.pop("floor", least)
            yield name, topoi.AspectModel(n_topics, tol=0.001, n_iter=MOST_STEPS, random_state=0, **settings), floor
    elif part == "stop":
        for tol in TOLS:
            yield f"tol {tol}", topoi.AspectModel(n_topics, tol=tol, n_iter=2000, random_state=0), least
    elif part == "before":
        yield "aspects, before", topoi.AspectModel(n_topics, random_state=0, **BEFORE), least
    else:
        yield "aspects, defaults", topoi.AspectModel(n_topics, random_state=0), least
    if part in ("choose", "report"):
        for name, settings in BASELINES.items():
            yield name, topoi.LDA(n_topics, n_iter=300, n_shards=1, random_state=0, **settings), least


def measured(model: Any, floor: float, train: topoi.Corpus, test: topoi.Corpus) -> dict[str, Any]:
    """Fit; perplexity per token of whole held-out documents by the default estimator, and what the fit cost."""
    begin = time.process_time()
    with patch.object(learning, "ALPHA_RANGE", (floor, learning.ALPHA_RANGE[1])), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a fit that reaches its limit is a row like the others
        model.fit(train)
    seconds = time.process_time() - begin
    alpha = np.asarray(model.chains_[0].alpha)
    return {
        "perplexity": float(model.perplexity(test)), "steps": model.n_iter_, "seconds": seconds,
        "stopped": model.fit_info_["stopped"], "alpha": [float(alpha.min()), float(alpha.max())],
    }  # fmt: skip


def run(parts: list[str], splits: list[int]) -> None:
    """Every fit that the file does not have; interrupted fits are not written."""
    found: dict[str, Any] = read()
    for split in splits:
        for part in parts:
            for name, n_docs in (CHOOSE if part in ("choose", "stop") else REPORT).items():
                train, test = corpus(name, n_docs).split(test_size=TEST, random_state=split)
                for n_topics in SIZES:
                    for label, model, floor in fits(part, n_topics):
                        key = f"{'report' if part == 'before' else part}|{name}|{n_topics}|{split}|{label}"
                        if key in found:
                            continue
                        row = measured(model, floor, train, test)
                        if model.fit_info_["interrupted"]:
                            raise SystemExit(f"interrupted at {key}")
                        found[key] = row | {"tokens": train.n_tokens, "words": train.n_words}
                        found = read() | found
                        NUMBERS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
                        print(
                            f"{key}: {row['perplexity']:,.0f}, {row['steps']} steps, {row['seconds']:.1f} s", flush=True
                        )


def read() -> dict[str, Any]:
    """The numbers so far."""
    return json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}


def ratios(found: dict[str, Any], part: str, label: dict[int, str], base: str = "LDA") -> list[float]:
    """Perplexity over that of ``base`` wherever both were measured; ``label`` by the number of topics."""
    pairs = []
    for key, row in found.items():
        *where, name = key.split("|", 4)
        other = found.get("|".join([*where, base]))
        if where[0] == part and name == label[int(where[2])] and other is not None:
            pairs.append(row["perplexity"] / other["perplexity"])
    return pairs


def percent(values: list[float]) -> str:
    """The mean of ratios, geometric, as a difference in per cent."""
    return f"{100 * (np.exp(np.mean(np.log(values))) - 1):+.1f} %" if values else ""


def chosen_on(found: dict[str, Any]) -> list[str]:
    """Alpha × smoothing: how far perplexity is from LDA's."""
    lines = [
        "| alpha | " + " | ".join(f"smoothing {s:g}" for s in SMOOTHINGS) + " |",
        "|---|" + "---:|" * len(SMOOTHINGS),
    ]
    rows = {f"alpha {a}": dict.fromkeys(SIZES, f"alpha {a}") for a in ALPHAS} | {"5 / K, at most 0.5": COMPOSED}
    rows |= {name: dict.fromkeys(SIZES, name) for name in ("alpha learned", f"alpha learned, at least {FLOOR}")}
    for name, label in rows.items():
        cells = [percent(ratios(found, "choose", {k: f"{label[k]}|{s}" for k in SIZES})) for s in SMOOTHINGS]
        lines.append(f"| {name.removeprefix('alpha ')} | " + " | ".join(cells) + " |")
    for name in list(BASELINES)[1:]:
        cell = percent(ratios(found, "choose", dict.fromkeys(SIZES, name)))
        lines.append(f"| {name} | {cell} |" + " |" * (len(SMOOTHINGS) - 1))
    return lines


def stops(found: dict[str, Any]) -> list[str]:
    """Criteria: perplexity against the strictest one's, steps and seconds."""
    lines = [
        "| tol | perplexity | steps, mean | most | seconds, mean | at the limit |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for tol in TOLS:
        rows = [row for key, row in found.items() if key.startswith("stop|") and key.endswith(f"|tol {tol}")]
        steps = [row["steps"] for row in rows]
        change = percent(ratios(found, "stop", dict.fromkeys(SIZES, f"tol {tol}"), f"tol {TOLS[-1]}"))
        if rows:
            seconds, limit = np.mean([row["seconds"] for row in rows]), sum(row["stopped"] == "n_iter" for row in rows)
            lines.append(
                f"| {tol:g} | {change} | {np.mean(steps):.0f} | {max(steps)} | {seconds:.1f} | {limit} of {len(rows)} |"
            )
    return lines


def reported_on(found: dict[str, Any]) -> list[str]:
    """Perplexities of the corpora that nothing was chosen on, mean over splits."""
    names = ["aspects, before", "aspects, defaults", *BASELINES]
    lines = ["| corpus | K | splits | " + " | ".join(names) + " |", "|---|---:|---:|" + "---:|" * len(names)]
    for corpus_name in REPORT:
        for k in SIZES:
            cells, n = [], 0
            for name in names:
                rows = [found.get(f"report|{corpus_name}|{k}|{split}|{name}") for split in SPLITS]
                values = [row["perplexity"] for row in rows if row is not None]
                n = max(n, len(values))
                cells.append(f"{np.mean(values):,.0f}" if values else "")
            if n:
                lines.append(f"| {corpus_name} | {k} | {n} | " + " | ".join(cells) + " |")
    all_of = [percent(ratios(found, "report", dict.fromkeys(SIZES, name))) for name in names]
    return [*lines, "| against LDA | | | " + " | ".join(all_of) + " |"]


def page(found: dict[str, Any]) -> str:
    """The page of the study."""
    parts = {
        part: sorted({key.split("|")[3] for key in found if key.startswith(part)})
        for part in ("choose", "stop", "report")
    }
    said = "; ".join(f"{part}: {', '.join(splits)}" for part, splits in parts.items())
    lines = [PAGE_HEAD.format(splits=said, choose=", ".join(f"{k} ({n:,} documents)" for k, n in CHOOSE.items()))]
    lines += [
        *chosen_on(found),
        "",
        PAGE_STOP,
        *stops(found),
        "",
        PAGE_REPORT.format(before=BEFORE),
        *reported_on(found),
    ]
    return "\n".join(lines) + "\n"


PAGE_HEAD = """# Defaults of the aspect model

Held-out perplexity of whole documents per token (the particle filter of `perplexity`, [evaluation](../evaluation.md)), of the aspect model and of LDA with several priors, 10 and 50 aspects
or topics. A tenth of the documents are held out. Made by

    TOPOI_DATA=folder python -m studies.aspect_defaults --split 0

Splits that were run: {splits}. LDA is that of `topoi.LDA`, 300 sweeps, with the papers' priors (alpha 50 / K, beta 0.01) if nothing is said; "learned" is its default, which learns both.

## Chosen on

{choose}; words that at least two documents have. Perplexity against LDA's with the papers' priors, mean over corpora, numbers of aspects and splits (below zero is better);
fits end at `tol=0.001` or after 200 steps. "1/K" is 0.1 and 0.02; "5 / K, at most 0.5" is 0.5 with 10 aspects and 0.1 with 50, put together of the rows above.
"""

PAGE_STOP = """## Where to stop

The same corpora, the defaults but for `tol`, at most 2,000 steps. Perplexity against that of the strictest criterion.
"""

PAGE_REPORT = """## Reported on

Corpora that had no part in the choice. "Before" is what the defaults used to be: `{before}`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="choose,stop,report,before")
    parser.add_argument("--split", type=int, choices=SPLITS, default=None)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if not given.page:
        run(given.part.split(","), list(SPLITS) if given.split is None else [given.split])
    (OUT / "aspect-defaults.md").write_text(page(read()), encoding="utf-8")


if __name__ == "__main__":
    main()
