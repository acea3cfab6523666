"""Figures of the kernel topic models: the Laplace bridge in two bases, and the speeches along time."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.integrate import trapezoid
from scipy.stats import beta as beta_distribution
from scipy.stats import norm

import topoi
from studies.chart import line_chart
from studies.papers.result import Found, study

# The paper's three Beta distributions.
PARAMETERS = ((2.0, 1.2), (0.5, 0.9), (3.0, 4.0))


def _in_softmax_basis(a: float, b: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points y₁ (y₂ = −y₁), the Beta's density there, and the bridge's Gaussian."""
    y = np.linspace(-6.0, 6.0, 4001)
    share = 1.0 / (1.0 + np.exp(-2.0 * y))
    mean, variance = topoi.laplace_bridge.to_gaussian([a, b])
    return (
        y,
        beta_distribution.pdf(share, a, b) * 2.0 * share * (1.0 - share),
        norm.pdf(y, mean[0], np.sqrt(variance[0])),
    )


def _in_simplex_basis(a: float, b: float) -> float | None:
    """Total variation of the Laplace approximation of the share itself; None if its density has no peak inside."""
    if min(a, b) <= 1.0:
        return None
    mode = (a - 1.0) / (a + b - 2.0)
    variance = 1.0 / ((a - 1.0) / mode**2 + (b - 1.0) / (1.0 - mode) ** 2)
    x = np.linspace(-3.0, 4.0, 14001)
    return float(0.5 * trapezoid(np.abs(beta_distribution.pdf(x, a, b) - norm.pdf(x, mode, np.sqrt(variance))), x))


@study(
    "ktm12-fig3", "Figure 3", "Laplace approximations of three Beta distributions, of shares and of their logits",
    {"of logits": "good for all three", "of shares": "poor, and there is none for (0.5, 0.9)"},
)  # fmt: skip
def two_bases() -> Found:
    """How far the approximations are off."""
    off, series = [], {}
    for a, b in PARAMETERS:
        y, true, near = _in_softmax_basis(a, b)
        off.append(float(0.5 * trapezoid(np.abs(true - near), y)))
        here = slice(800, 3201, 100)
        series[f"Beta({a:g}, {b:g})"] = list(zip(y[here].tolist(), true[here].tolist(), strict=True))
        series[f"Gaussian {a:g}, {b:g}"] = list(zip(y[here].tolist(), near[here].tolist(), strict=True))
    shares = [_in_simplex_basis(a, b) for a, b in PARAMETERS]
    dashed = [name for name in series if name.startswith("Gaussian")]
    chart = line_chart(series, "y of the first topic", "density", dashed=dashed)
    better = all(other is None or own < other for own, other in zip(off, shares, strict=True))
    return Found(
        {
            "of logits": "total variation " + ", ".join(f"{value:.2f}" for value in off),
            "of shares": "total variation " + ", ".join("none" if value is None else f"{value:.2f}" for value in shares),
        },
        "reproduced" if better and max(off) < 0.25 else "partly",
        "For the paper's parameters (2, 1.2), (0.5, 0.9), (3, 4). Total variation is half the area between two densities.",
        "![Three Beta distributions in the softmax basis, dashed the bridge's Gaussians](ktm12-fig3.svg)",
        {"ktm12-fig3": chart},
    )  # fmt: skip


@study(
    "ktm12-fig5", "Figure 5", "Topics of the State of the Union along time, predicted from year and president",
    {"long developments": "the industrial revolution", "fast ones": "the war with Spain"},
)  # fmt: skip
def speeches() -> Found:
    """Predicted shares by year, the president in office given."""
    corpus = topoi.load_dataset("state-of-the-union", unit="speech")
    model = topoi.KernelTopicModel(
        10, features=["year", "authors"], n_iter=200, random_state=0, n_jobs=2, progress=False
    ).fit(corpus)
    frame = pd.DataFrame(
        {"year": corpus.documents["year"].astype(int), "authors": [names[0] for names in corpus.author_lists()]}
    )
    frame = frame.drop_duplicates("year").sort_values("year").reset_index(drop=True)
    predicted = model.predict(frame)
    shares = predicted.pivot(index="row", columns="topic", values="mean").to_numpy()
    words = [", ".join(model.top_words(2, topic=k)["word"]) for k in range(10)]
    largest = np.argsort(-shares.max(axis=0))[:6]
    at = np.linspace(0, len(frame) - 1, 24).astype(int)
    series = {words[k]: [(float(frame["year"][i]), 100 * float(shares[i, k])) for i in at] for k in largest}
    span = _half_width(shares, frame["year"].to_numpy())
    return Found(
        {"long developments": f"a topic stays above half of its peak for up to {max(span):.0f} years", "fast ones": f"and for {min(span):.0f} at the least"},
        "reproduced" if max(span) >= 40 and min(span) <= 15 else "partly",
        "Ten topics of whole speeches; topics are named by their two leading words, and ours are not the paper's one by one.",
        "![Predicted shares of six topics, 1790 to today](ktm12-fig5.svg)",
        {"ktm12-fig5": line_chart(series, "year", "% of the speech, predicted")},
    )  # fmt: skip


def _half_width(shares: np.ndarray, years: np.ndarray) -> list[float]:
    """Years around the peak in which each topic has more than half of its largest share."""
    found = []
    for column in shares.T:
        peak = int(column.argmax())
        above = column > 0.5 * column[peak]
        low = high = peak
        while low > 0 and above[low - 1]:
            low -= 1
        while high < len(column) - 1 and above[high + 1]:
            high += 1
        found.append(float(years[high] - years[low] + 1))
    return found
