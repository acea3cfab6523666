"""The Laplace bridge against elliptical slice sampling (KTM12, figure 4), K = 10, by the spread of the prior.

    python -m studies.bridge_figure [--experiments 24] [--sweeps 4000]

y is drawn from a Gaussian with mean zero and Σ y = 0, words' topics from softmax(y). The bridge takes the prior to a
Dirichlet, adds the counts and comes back; ``project`` starts from the nearest Dirichlet instead; the sampler is exact
but for its length. Writes docs/studies/bridge-figure.json, .md and .svg.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.chart import line_chart
from topoi import laplace_bridge

Array = NDArray[np.float64]
OUT = Path(__file__).parents[1] / "docs" / "studies"
N_TOPICS, WORDS, SPREADS = 10, (1, 3, 10, 30, 100, 300, 1000), (0.5, 1.0, 2.0)
METHODS = ("slice sampling", "bridge", "nearest Dirichlet")


def slices(rng: np.random.Generator, counts: Array, factor: Array, n_sweeps: int) -> Array:
    """Samples of y given counts of topics and a Gaussian prior (Murray, Adams and MacKay 2010)."""
    n_words = counts.sum()

    def log_p(y: Array) -> float:
        return float(counts @ y - n_words * np.log(np.exp(y).sum()))

    y, kept = np.zeros(len(counts)), []
    for _ in range(n_sweeps):
        other = factor @ rng.normal(size=len(counts))
        threshold = log_p(y) + np.log(rng.uniform())
        angle = rng.uniform(0, 2 * np.pi)
        low, high = angle - 2 * np.pi, angle
        while log_p(new := y * np.cos(angle) + other * np.sin(angle)) <= threshold:
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = rng.uniform(low, high)
        y = new
        kept.append(y)
    return np.array(kept[n_sweeps // 5 :])


def experiment(rng: np.random.Generator, spread: float, n_words: int, n_sweeps: int) -> dict[str, tuple[float, float]]:
    """For each method the error of the mean of y, and the error it states: root of the sum of variances."""
    factor = spread * (np.eye(N_TOPICS) - 1.0 / N_TOPICS)
    truth = factor @ rng.normal(size=N_TOPICS)
    counts = rng.multinomial(n_words, np.exp(truth) / np.exp(truth).sum()).astype(float)
    samples = slices(rng, counts, factor, n_sweeps)
    variance = np.full(N_TOPICS, spread**2 * (1.0 - 1.0 / N_TOPICS))
    priors = {
        "bridge": laplace_bridge.to_dirichlet(np.zeros(N_TOPICS), variance),
        "nearest Dirichlet": laplace_bridge.project(np.zeros(N_TOPICS), factor @ factor.T + 1e-12 * np.eye(N_TOPICS)),
    }
    found = {"slice sampling": (np.linalg.norm(samples.mean(axis=0) - truth), np.sqrt(samples.var(axis=0).sum()))}
    for name, prior in priors.items():
        mean, spreads = laplace_bridge.to_gaussian(prior + counts)
        found[name] = np.linalg.norm(mean - truth), np.sqrt(spreads.sum())
    return {name: (float(error), float(stated)) for name, (error, stated) in found.items()}


def run(n_experiments: int, n_sweeps: int) -> list[dict[str, Any]]:
    rows = []
    for spread in SPREADS:
        for n_words in WORDS:
            rng = np.random.default_rng([round(100 * spread), n_words])
            parts = [experiment(rng, spread, n_words, n_sweeps) for _ in range(n_experiments)]
            for name in METHODS:
                error, stated = np.sqrt(np.mean(np.square([part[name] for part in parts]), axis=0))
                row = {
                    "spread": spread,
                    "words": n_words,
                    "method": name,
                    "error": float(error),
                    "stated": float(stated),
                }
                rows.append(row)
            print(rows[-3:], flush=True)
    return rows


def _at(rows: list[dict[str, Any]], spread: float, n_words: int, method: str) -> dict[str, Any]:
    return next(r for r in rows if (r["spread"], r["words"], r["method"]) == (spread, n_words, method))


def page(rows: list[dict[str, Any]], n_experiments: int, n_sweeps: int) -> str:
    lines = [
        "# The Laplace bridge against slice sampling",
        "",
        "Figure 4 of Hennig et al. 2012, by the standard deviation of the prior of y: 10 topics, words' topics drawn from softmax(y), and y inferred from their",
        f"counts. Root mean squared error of y over {n_experiments} experiments, with Σ y = 0, and in brackets the error that the method states. Slice sampling is exact but for",
        f"its length ({n_sweeps:,} sweeps).",
        "",
        "`python -m studies.bridge_figure` writes this page.",
        "",
    ]
    for spread in SPREADS:
        lines += [f"Standard deviation {spread:g}:", "", f"| words | {' | '.join(METHODS)} | bridge / sampling |"]
        lines += ["|---|" + "---|" * (len(METHODS) + 1)]
        for n_words in WORDS:
            found = [_at(rows, spread, n_words, name) for name in METHODS]
            cells = [f"{one['error']:.2f} ({one['stated']:.2f})" for one in found]
            lines.append(f"| {n_words:,} | {' | '.join(cells)} | {found[1]['error'] / found[0]['error']:.2f} |")
        lines.append("")
    lines += ["![Errors against the number of words, standard deviation 1](bridge-figure.svg)", "", *reading(rows)]
    return "\n".join(lines) + "\n"


def reading(rows: list[dict[str, Any]]) -> list[str]:
    """What the numbers say, from the numbers."""
    lines = []
    for spread in SPREADS:
        pairs = [(_at(rows, spread, n, "bridge"), _at(rows, spread, n, "slice sampling")) for n in WORDS]
        more = max(one["error"] / exact["error"] for one, exact in pairs) - 1.0
        honest = [one["stated"] / one["error"] for one, _ in pairs]
        lines.append(
            f"* Standard deviation {spread:g}: the bridge's error is at most {100 * more:.0f} % above the sampler's; what it "
            f"states is {min(honest):.2f} to {max(honest):.2f} times its error."
        )
    return lines


def chart(rows: list[dict[str, Any]]) -> str:
    """Errors, and stated errors dashed, for a standard deviation of one."""
    lines = {}
    for name in METHODS[:2]:
        for what in ("error", "stated"):
            label = name if what == "error" else f"{name}, stated"
            lines[label] = [(float(n), _at(rows, 1.0, n, name)[what]) for n in WORDS]
    dashed = [label for label in lines if label.endswith("stated")]
    alike = {label: label.removesuffix(", stated") for label in dashed}
    title = "error of y (2-norm), and dashed what the method states"
    return line_chart(lines, "words", title, x_scale=lambda x: float(np.log10(x)), dashed=dashed, alike=alike)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=24)
    parser.add_argument("--sweeps", type=int, default=4000)
    options = parser.parse_args()
    rows = run(options.experiments, options.sweeps)
    (OUT / "bridge-figure.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (OUT / "bridge-figure.md").write_text(page(rows, options.experiments, options.sweeps), encoding="utf-8")
    (OUT / "bridge-figure.svg").write_text(chart(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
