"""Do intervals of correlations of topics hold the truth? Simulated corpora with planted correlations.

    python -m studies.correlation_intervals [--corpora 20] [--sweeps 1000]
    python -m studies.correlation_intervals --page       writes the page again from the numbers of the last run

Results are saved after every corpus; a second run goes on with what is missing. Writes docs/studies/correlation-intervals.json
and .md.

A corpus counts as *found* if, after the best one-to-one matching by cosine, every topic's words have a cosine of ``FOUND`` or
more with the true ones. That was laid down before the first run; ``OTHERS`` are shown beside it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import topoi
from topoi.models.ctm.correlations import correlation_of
from topoi.models.ctm.normal import Hyper
from topoi.models.ctm.simulate import simulate

OUT = Path(__file__).parents[1] / "docs" / "studies"
NAME = "correlation-intervals"
# The set-up of tests/ctm/test_model.py: four topics over 60 words, two pairs of them correlated, variances of 3.
PLANTED = np.array([[1.0, 0.8, 0.0, 0.0], [0.8, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -0.7], [0.0, 0.0, -0.7, 1.0]])
N_DOCS, LENGTH, N_WORDS, BETA, VARIANCE = 300, 80, 60, 0.1, 3.0
LEVEL, FOUND, OTHERS = 0.9, 0.9, (0.8, 0.95)
Array = NDArray[np.float64]


def planted(seed: int) -> Any:
    """A simulated corpus with its truth."""
    hyper = Hyper(1.0, 8.0, 1.0)
    return simulate(N_DOCS, LENGTH, 4, np.full(N_WORDS, BETA), hyper, seed, np.zeros(4), VARIANCE * PLANTED)


def cosines(found: Array, true: Array) -> Array:
    """Cosine of every true topic's words with every found one's: true × found."""
    return true @ found.T / np.linalg.norm(true, axis=1)[:, None] / np.linalg.norm(found, axis=1)


def measure(seed: int, sweeps: int) -> dict[str, Any]:
    """How alike matched topics are, and which intervals hold the true correlations, of one corpus."""
    corpus, start = planted(seed), time.process_time()
    model = topoi.CorrelatedTopicModel(4, beta=BETA, n_iter=sweeps, random_state=seed, n_jobs=1).fit(corpus)
    seconds = time.process_time() - start
    alike = cosines(model.topic_word_, corpus.truth.topic_word)
    rows, order = linear_sum_assignment(-alike)
    place, frame = np.argsort(order), model.topic_correlations(LEVEL)
    true = correlation_of(corpus.truth.covariance)[place[frame["topic"]], place[frame["other"]]]
    return {
        "cosines": alike[rows, order].round(4).tolist(),
        "inside": ((frame["low"] <= true) & (true <= frame["high"])).tolist(),
        "missing": int(frame["low"].isna().sum()),
        "error": float(np.abs(frame["correlation"] - true).max()),
        "width": float((frame["high"] - frame["low"]).mean()),
        "seconds": seconds,
    }


def run(numbers: Path, n_corpora: int, sweeps: int) -> None:
    """Every corpus that is not in the file yet; numbers of other sweeps are thrown away."""
    result = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else {}
    if result.get("sweeps") != sweeps:
        result = {"sweeps": sweeps, "corpora": {}}
    for seed in range(n_corpora):
        if str(seed) not in result["corpora"]:
            result["corpora"][str(seed)] = measure(seed, sweeps)
            print(seed, result["corpora"][str(seed)], flush=True)
            numbers.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def share(corpora: list[dict[str, Any]]) -> str:
    """Share of intervals that hold the truth; its error is over corpora, whose six intervals are not independent."""
    each = np.array([np.mean(corpus["inside"]) for corpus in corpora])
    if not len(each):
        return "–"
    error = f" ± {each.std(ddof=1) / np.sqrt(len(each)):.1%}" if len(each) > 1 else ""
    return f"{each.mean():.1%}{error}".replace("%", " %")


def coverage_table(corpora: list[dict[str, Any]]) -> str:
    """Corpora found and intervals that hold the truth, by how alike topics must be."""
    lines = [
        "| every topic's cosine is at least | corpora | intervals | hold the truth | in the other corpora |",
        "|---|---:|---:|---:|---:|",
    ]
    for least in sorted((0.0, FOUND, *OTHERS)):
        found = [corpus for corpus in corpora if min(corpus["cosines"]) >= least]
        rest = [corpus for corpus in corpora if min(corpus["cosines"]) < least]
        label = f"**{least}**" if least == FOUND else str(least) if least else "anything: all corpora"
        n_intervals = sum(len(corpus["inside"]) for corpus in found)
        lines.append(f"| {label} | {len(found)} | {n_intervals} | {share(found)} | {share(rest)} |")
    return "\n".join(lines)


def first_twenty(corpora: list[dict[str, Any]]) -> str:
    """What the first twenty corpora, which an earlier version of the page had, say alone."""
    found = [corpus for corpus in corpora[:20] if min(corpus["cosines"]) >= FOUND]
    inside, n = sum(sum(corpus["inside"]) for corpus in found), sum(len(corpus["inside"]) for corpus in found)
    every = np.mean([corpus["inside"] for corpus in corpora[:20]])
    return f"{len(found)} were found, and {inside} of their {n} intervals hold the truth ({inside / n:.0%}); over all 20 it is {every:.1%}".replace(
        "%", " %"
    )


def lost_table(corpora: dict[str, dict[str, Any]]) -> str:
    """The corpora that were not found, one by one."""
    lines = ["| seed | cosines | intervals that hold the truth | largest error |", "|---:|---|---:|---:|"]
    for seed, corpus in corpora.items():
        if min(corpus["cosines"]) < FOUND:
            alike = ", ".join(f"{cosine:.2f}" for cosine in corpus["cosines"])
            lines.append(f"| {seed} | {alike} | {sum(corpus['inside'])} of 6 | {corpus['error']:.2f} |")
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """The numbers as text."""
    corpora = list(result["corpora"].values())
    found = [corpus for corpus in corpora if min(corpus["cosines"]) >= FOUND]
    return PAGE.format(
        n=len(corpora), sweeps=result["sweeps"], coverage=coverage_table(corpora), lost=lost_table(result["corpora"]),
        seconds=sum(corpus["seconds"] for corpus in corpora), width=np.mean([corpus["width"] for corpus in found]),
        missing=sum(corpus["missing"] for corpus in corpora), twenty=first_twenty(corpora),
        verdict=PAGE_VERDICT.format(
            held=share(found), errors=errors_below(found), least=min(min(corpus["cosines"]) for corpus in found), lost=len(corpora) - len(found), n=len(corpora),
            inside=sum(sum(corpus["inside"]) for corpus in corpora if min(corpus["cosines"]) < FOUND), sweeps=result["sweeps"], n_docs=N_DOCS,
        ),
        n_docs=N_DOCS, length=LENGTH, n_words=N_WORDS, beta=BETA, variance=VARIANCE, least=FOUND,
    )  # fmt: skip


def errors_below(corpora: list[dict[str, Any]]) -> float:
    """By how many standard errors the share that holds is below 90 %."""
    each = np.array([np.mean(corpus["inside"]) for corpus in corpora])
    return float((0.9 - each.mean()) / (each.std(ddof=1) / np.sqrt(len(each))))


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    numbers = OUT / f"{NAME}.json"
    if not options.page:
        run(numbers, options.corpora, options.sweeps)
    (OUT / f"{NAME}.md").write_text(page(json.loads(numbers.read_text(encoding="utf-8"))), encoding="utf-8")


PAGE_VERDICT = """## What it shows

**The choice of corpora did not flatter.** An earlier figure, 85 % of 102 intervals in 17 of 20 corpora and 72 % over all, had been judged by the size of the error, after seeing it. The criterion laid down beforehand picks the same 17 of the first 20. In corpora that were found no cosine is below {least:.2f},
so any of the three limits picks the same.

**The intervals are too short all the same.** Where all topics are found, 90 % intervals hold the truth in {held}, {errors:.0f} standard errors below what they promise. A likely reason, not tested: half of {sweeps:,}
sweeps holds few effective samples of a covariance (about one in 60 sweeps in [another corpus](../ctm.md)), so that the tails are not reached. The prior, which draws correlations towards none, counts for eight documents of {n_docs}.

**Where two topics are merged, the intervals fail.** In the {lost} of {n} corpora that were not found, {inside} intervals hold the truth. The merged topics are the pair with the planted correlation of 0.8, and a single chain does not show it.
"""

PAGE = """# Intervals of correlations

Do 90 % intervals of `CorrelatedTopicModel.topic_correlations` hold the true correlation nine times in ten? {n} simulated corpora of {n_docs} documents with {length} words, four topics over {n_words} words
(Dirichlet with beta = {beta}, which the fit knows), variances of {variance:g} and two planted correlations, 0.8 and −0.7 before centring; one chain of {sweeps:,} sweeps each. Made by

    python -m studies.correlation_intervals --corpora {n} --sweeps {sweeps}

in {seconds:,.0f} s of processor time.

A chain may keep two topics as one, and then there is no true correlation to compare with. So that nobody chooses after seeing the errors, a corpus counts as found if, after the best
one-to-one matching, every topic's words have a cosine of {least} or more with the true ones; laid down before the run, with 0.8 and 0.95 beside it. Errors are over corpora.

{coverage}

Of the first 20 corpora alone {twenty}.

The mean interval of a corpus that was found is {width:.2f} wide; {missing} intervals were missing (NaN; they count as not holding). The corpora that were not found:

{lost}

{verdict}"""

if __name__ == "__main__":
    main()
