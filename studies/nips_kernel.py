"""Papers predicted from year and authors: kernel topic models, regression, LDA.

    TOPOI_DATA=folder python -m studies.nips_kernel [--papers 1740] [--folds 5] [--page]

The corpus nips12: 1,740 papers of 2,037 authors, 1987 to 1999. A fifth of the papers is held out, of which only year and
authors are known, or a few words as well. ``--papers`` takes a random part of them. A run can be broken off and resumed.
Writes docs/studies/nips-kernel.json and .md.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import topoi
from studies.kernel_comparison import OUT, folds, run, write_page
from studies.same_start import LDA, TUNED_VARIANCES, Regression, widths

N_TOPICS, N_PARTS, SEED, FEATURES = 20, 5, 0, ["year", "authors"]
OBSERVED = (0, 4, 16, 64)
BEST, KERNEL = "DMR, tuned", "KTM"
MODELS: dict[str, Any] = {
    "LDA": lambda train, seed: Regression(N_TOPICS, random_state=seed, **LDA).fit(train),
    BEST: lambda train, seed: Regression(
        N_TOPICS, random_state=seed, designs=widths(FEATURES, 2, 6), variances=TUNED_VARIANCES
    ).fit(train),
    KERNEL: lambda train, seed: topoi.KernelTopicModel(
        N_TOPICS, features=FEATURES, random_state=seed, solver="iterative"
    ).fit(train),
}
HEAD = """# Papers predicted from year and authors

The corpus nips12: papers of NIPS 1987 to 1999 with year and authors, {papers:,} of its 1,740; 20 topics, the 5,000 commonest words. {n} of five random
folds were measured: means ± standard errors over them, ratios paired by fold. All models share words among topics by the same sweep from the same start. *DMR, tuned* has bumps in time
and a column for every author; width (2 or 6 years) and variance were chosen by cross-validation inside each training set. *KTM* has its defaults on year
and authors, but for the solver, which is the iterative one.

`TOPOI_DATA=folder python -m studies.nips_kernel --papers {papers}` writes this page; the folder holds the corpus.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=1740)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    path = OUT / "nips-kernel.json"
    splits: dict[str, Any] = {"random": []}
    corpus = None
    if not options.page:
        corpus = topoi.load_dataset("nips12", max_words=5000)
        chosen = np.random.default_rng(SEED).permutation(corpus.n_docs)[: options.papers]
        corpus = corpus.subset(np.sort(chosen))
        fold = folds(np.arange(corpus.n_docs), N_PARTS, np.random.default_rng(SEED))
        splits["random"] = [fold == each for each in range(options.folds)]
    rows = run(corpus, splits, MODELS, OBSERVED, path)
    head = HEAD.replace("{papers:,}", f"{options.papers:,}").replace("{papers}", str(options.papers))
    write_page(OUT / "nips-kernel.md", head, rows, list(MODELS), [(KERNEL, "LDA"), (KERNEL, BEST)], OBSERVED)


if __name__ == "__main__":
    main()
