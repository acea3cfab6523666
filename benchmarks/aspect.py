"""The aspect model: time per pass over the non-zeros, and to the end, of both kinds of inference."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

import topoi
from topoi.models.aspect.learning import first_aspects
from topoi.models.bags import Bags
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.inference import infer
from topoi.models.fixed_topics.parameters import Parameters

from .report import Report, progress
from .settings import Settings
from .timing import timed

ASPECTS, QUICK_ASPECTS = (10, 50, 100), (10,)
PASSES = 5
COLUMNS = {
    "corpus": "corpus",
    "n_aspects": "A",
    "ep": "EP ns/non-zero|.1f",
    "vb": "VB ns/non-zero|.1f",
    "ratio": "EP / VB|.2f",
    "ep_passes": "EP passes|.1f",
    "vb_passes": "VB passes|.1f",
    "ratio_to_end": "to the end|.2f",
}
REMARK = (
    "CPU time of one thread, medians over alternating rounds. Passes: until sites (EP) change by less than 1e-4 or\n"
    "shares of words (VB) by less than 1e-5, at most 100; 'to the end' is the ratio of the whole inference."
)


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """Every corpus at every number of aspects, with aspects after a few EM steps."""
    rows = []
    for name, corpus in corpora.items():
        for n_aspects in QUICK_ASPECTS if settings.quick else ASPECTS:
            progress(f"aspect model, {name}, {n_aspects} aspects")
            rows.append({"corpus": name, "n_aspects": n_aspects, **_contest(corpus, n_aspects, settings.rounds)})
    report.section("aspect", "Inference for the aspect model, one thread", rows, COLUMNS, REMARK)


def _contest(corpus: topoi.Corpus, n_aspects: int, rounds: int) -> dict[str, Any]:
    bags = Bags.from_corpus(corpus)
    aspects = first_aspects(bags, corpus.n_words, n_aspects, np.random.default_rng(0))
    parameters = Parameters.pad(aspects, np.full(n_aspects, 0.5))
    sites, room = np.zeros((len(bags.row), len(parameters.alpha))), np.zeros((bags.n_docs, len(parameters.alpha)))
    plain, end = Rule(0.0, PASSES, 1.0, 1), Rule(1e-4, 100)
    infer(bags, parameters, "ep", plain, sites=sites)
    infer(bags, parameters, "vb", plain, start=room)
    seconds: dict[str, list[float]] = {"ep": [], "vb": [], "ep_end": [], "vb_end": []}
    outcomes = {}
    for _ in range(rounds):
        seconds["ep"].append(timed(lambda: infer(bags, parameters, "ep", plain, sites=sites, warm=True)).cpu)
        seconds["vb"].append(timed(lambda: infer(bags, parameters, "vb", plain, start=room, warm=True)).cpu)
    for method, rule in (("ep", end), ("vb", Rule(1e-5, 100))):
        seconds[f"{method}_end"].append(
            timed(lambda m=method, r=rule: outcomes.update({m: infer(bags, parameters, m, r)})).cpu  # type: ignore[misc]
        )
    each = {name: 1e9 * median(seconds[name]) / (len(bags.row) * PASSES) for name in ("ep", "vb")}
    return {
        **each,
        "ratio": median(e / v for e, v in zip(seconds["ep"], seconds["vb"], strict=True)),
        "ep_passes": float(outcomes["ep"].outcome.passes.mean()),
        "vb_passes": float(outcomes["vb"].outcome.passes.mean()),
        "ratio_to_end": seconds["ep_end"][0] / seconds["vb_end"][0],
    }
