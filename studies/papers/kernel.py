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
from studies.same_start import PAPER, Regression
from topoi.models.dmr.likelihood import alpha_rows

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


def _of_share(a: float, b: float) -> tuple[float, float] | None:
    """Mean and standard deviation of the Laplace approximation of the share itself; None if its density has no peak inside."""
    if min(a, b) <= 1.0:
        return None
    mode = (a - 1.0) / (a + b - 2.0)
    return mode, float(1.0 / np.sqrt((a - 1.0) / mode**2 + (b - 1.0) / (1.0 - mode) ** 2))


def _in_simplex_basis(a: float, b: float) -> float | None:
    """Total variation of the Laplace approximation of the share itself."""
    found, x = _of_share(a, b), np.linspace(-3.0, 4.0, 14001)
    if found is None:
        return None
    return float(0.5 * trapezoid(np.abs(beta_distribution.pdf(x, a, b) - norm.pdf(x, *found)), x))


def _shares_chart() -> str:
    """The densities of the share, where they are below 3, and their Laplace approximations dashed."""
    x, series, dashed = np.linspace(0.0, 1.0, 101)[1:-1], {}, []
    for a, b in PARAMETERS:
        lines = {f"Beta({a:g}, {b:g})": beta_distribution.pdf(x, a, b)}
        found = _of_share(a, b)
        if found is not None:
            dashed.append(f"Gaussian {a:g}, {b:g}")
            lines[dashed[-1]] = norm.pdf(x, *found)
        for name, line in lines.items():
            series[name] = [(float(p), float(q)) for p, q in zip(x, line, strict=True) if q < 3]
    return line_chart(
        series,
        "share of the first topic",
        "density",
        dashed=dashed,
        alike={name: f"Beta({name.removeprefix('Gaussian ')})" for name in dashed},
    )


@study(
    "ktm12-fig3", "Figure 3", "Laplace approximations of three Beta distributions, of shares and of their logits",
    {"softmax basis (logits)": "good, also below 1", "simplex basis (shares)": "much worse, means do not match", "means and variances of the Gaussians": "(0.5, 1.3), (-0.6, 3.1), (-0.3, 0.6)"},
)  # fmt: skip
def two_bases() -> Found:
    """How far the approximations are off."""
    off, series = [], {}
    for a, b in PARAMETERS:
        y, true, near = _in_softmax_basis(a, b)
        off.append(float(0.5 * trapezoid(np.abs(true - near), y)))
        here = slice(800, 3201, 25)
        series[f"Beta({a:g}, {b:g})"] = list(zip(y[here].tolist(), true[here].tolist(), strict=True))
        series[f"Gaussian {a:g}, {b:g}"] = list(zip(y[here].tolist(), near[here].tolist(), strict=True))
    shares = [_in_simplex_basis(a, b) for a, b in PARAMETERS]
    dashed = [name for name in series if name.startswith("Gaussian")]
    chart = line_chart(
        series, "y of the first topic", "density", dashed=dashed, alike=dict(zip(dashed, [*series][::2], strict=True))
    )
    gaussians = [topoi.laplace_bridge.to_gaussian([a, b]) for a, b in PARAMETERS]
    better = all(other is None or own < other for own, other in zip(off, shares, strict=True))
    return Found(
        {
            "softmax basis (logits)": "total variation " + ", ".join(f"{value:.2f}" for value in off),
            "simplex basis (shares)": "total variation " + ", ".join("none" if value is None else f"{value:.2f}" for value in shares),
            # Of the difference of the two y, which is twice the first.
            "means and variances of the Gaussians": ", ".join(f"({2 * mean[0]:.1f}, {4 * variance[0]:.1f})" for mean, variance in gaussians),
        },
        "reproduced" if better and max(off) < 0.25 else "partly",
        "For the paper's parameters (2, 1.2), (0.5, 0.9), (3, 4). Total variation is half the area between two densities. The share with (0.5, 0.9) has no peak inside, and so no Laplace approximation. Means and variances are of y₁ − y₂, the one dimension of the paper; the picture has y₁, which is half of that. *Reproduced* needs all three to be nearer in the softmax basis, and off by less than 0.25 there.",
        "![Three Beta distributions of logits, dashed the bridge's Gaussians](ktm12-fig3.svg)\n\n![The same distributions of shares, dashed their Laplace approximations where there are any](ktm12-fig3-shares.svg)",
        {"ktm12-fig3": chart, "ktm12-fig3-shares": _shares_chart()},
    )  # fmt: skip


@study(
    "ktm12-fig5", "Figure 5", "Topics of the State of the Union over time, predicted from year and president",
    {"long developments": "the industrial revolution", "fast ones": "the war with Spain"},
)  # fmt: skip
def speeches() -> Found:
    """Predicted shares by year, the president in office given."""
    corpus = topoi.load_dataset("state-of-the-union", unit="speech")
    model = topoi.KernelTopicModel(10, features=["year", "authors"], random_state=0, n_jobs=2, progress=False).fit(
        corpus
    )
    frame = pd.DataFrame(
        {"year": corpus.documents["year"].astype(int), "authors": [names[0] for names in corpus.author_lists()]}
    )
    frame = frame.drop_duplicates("year").sort_values("year").reset_index(drop=True)
    predicted = model.predict(frame)
    shares = predicted.pivot(index="row", columns="topic", values="mean").to_numpy()
    linear = Regression(10, **PAPER).fit(corpus)  # from the same start, so that topics of one number are alike
    largest = np.argsort(-shares.max(axis=0))[:6]
    alpha = alpha_rows(linear.design.matrix(frame), linear.coefficients)
    span = _half_width(shares, frame["year"].to_numpy())
    return Found(
        {"long developments": f"one topic stays above half of its peak for {max(span):.0f} years", "fast ones": f"another for {min(span):.0f} years"},
        "reproduced" if max(span) >= 40 and min(span) <= 15 else "partly",
        "Ten topics of whole speeches, each named by its two leading words; they do not correspond to the paper's one by one. The linear model, from the same start, has the paper's features: a hundred bumps in time and a column for each president. *Reproduced* needs one topic above half of its peak for 40 years or more, and one for 15 or fewer.",
        "![Predicted shares of six topics, 1790 to today, kernel topic model](ktm12-fig5.svg)\n\n![The same, linear model](ktm12-fig5-linear.svg)",
        {
            "ktm12-fig5": _shares_chart_by_year(shares[:, largest], frame["year"], model.topic_word_[largest], corpus),
            "ktm12-fig5-linear": _shares_chart_by_year(
                (alpha / alpha.sum(axis=1, keepdims=True))[:, largest], frame["year"], linear.topic_word_[largest], corpus
            ),
        },
    )  # fmt: skip


def _shares_chart_by_year(shares: np.ndarray, years: pd.Series, topic_word: np.ndarray, corpus: topoi.Corpus) -> str:
    """A line for each topic, named by its two likeliest words."""
    words = corpus.vocabulary.words
    names = [", ".join(words[w] for w in np.argsort(-row, kind="stable")[:2]) for row in topic_word]
    series = {
        name: [(float(year), 100 * float(share)) for year, share in zip(years, column, strict=True)]
        for name, column in zip(names, shares.T, strict=True)
    }
    return line_chart(series, "year", "% of the speech, predicted")


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
