"""Articles predicted from what they link to (KTM12, section 4.2): kernel topic models, regression, LDA.

    TOPOI_DATA=folder python -m studies.links_kernel [--folds 3] [--page]

The corpus wikipedia-science: 1,078 articles and the links between them, taken both ways. A fifth of the articles is held
out, of which only the links are known, or a few words as well. A run can be broken off and resumed. Writes
docs/studies/links-kernel.json and .md.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import topoi
from studies.kernel_comparison import OUT, folds, run, write_page
from studies.same_start import LDA, TUNED_VARIANCES, Regression
from topoi.models.dmr.design import Design

N_TOPICS, N_PARTS, SEED = 10, 5, 0
OBSERVED = (0, 4, 16, 64)
BEST, KERNEL = "DMR, tuned", "KTM"
MODELS: dict[str, Any] = {
    "LDA": lambda train, seed: Regression(N_TOPICS, random_state=seed, **LDA).fit(train),
    BEST: lambda train, seed: Regression(
        N_TOPICS,
        random_state=seed,
        designs={"a column per article": lambda corpus: Design.learn(corpus, {"links": "names"})},
        variances=TUNED_VARIANCES,
    ).fit(train),
    KERNEL: lambda train, seed: topoi.KernelTopicModel(
        N_TOPICS, features={"links": "links"}, kernel=topoi.Proximity("links", alpha=np.inf), random_state=seed
    ).fit(train),
}
HEAD = """# Articles predicted from their links

The corpus wikipedia-science: 1,078 articles on science and mathematics and the links between them, taken both ways; 10 topics, the 5,000 commonest words. {n}
of five random folds were measured: means ± standard errors over them, ratios paired by fold. All models share words among topics by the same sweep from
the same start. *DMR, tuned* has a column for every article that others link to, its variance chosen by cross-validation inside each training set; *KTM*
has the kernel of equation 20, `Proximity("links", alpha=inf)`, on vectors of shortest paths, with one scale.

`TOPOI_DATA=folder python -m studies.links_kernel` writes this page; the folder holds the corpus.
"""


def both_ways(corpus: topoi.Corpus) -> topoi.Corpus:
    """The corpus with links taken both ways, within the corpus."""
    ids = corpus.documents["id"].tolist()
    near: dict[str, set[str]] = {each: set() for each in ids}
    for own, links in zip(ids, corpus.documents["links"], strict=True):
        for other in links if isinstance(links, list | tuple) else []:
            if other in near and other != own:
                near[own].add(other)
                near[other].add(own)
    corpus.documents = corpus.documents.assign(links=[sorted(near[each]) for each in ids])
    return corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    path = OUT / "links-kernel.json"
    splits: dict[str, Any] = {"random": []}
    corpus = None
    if not options.page:
        corpus = both_ways(topoi.load_dataset("wikipedia-science", max_words=5000))
        fold = folds(np.arange(corpus.n_docs), N_PARTS, np.random.default_rng(SEED))
        splits["random"] = [fold == each for each in range(options.folds)]
    rows = run(corpus, splits, MODELS, OBSERVED, path)
    write_page(OUT / "links-kernel.md", HEAD, rows, list(MODELS), [(KERNEL, "LDA"), (KERNEL, BEST)], OBSERVED)


if __name__ == "__main__":
    main()
