"""How well planted groups of topics are found, with and without moves of whole blocks of words.

    python -m studies.planted_groups

Corpora are drawn from four-level models whose super-topics have few sub-topics each. A found super-topic is matched to a
planted one by the overlap of their mean mixtures, Σ over sub-topics of the smaller share: 1 is the same, about 0.3 what
chance gives. Without block moves the same code runs with that part left out.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import topoi
from topoi.models.pachinko import blocks

#: super-topics, sub-topics, sub-topics per super-topic, documents, words per document
SHAPES = [(4, 10, 3, 600, 60), (6, 24, 5, 1000, 60)]
ROOT = 0.05


def story(n_super: int, n_sub: int, n_own: int, seed: int) -> topoi.PachinkoAllocation:
    """A model with planted groups."""
    rng = np.random.default_rng(seed)
    alpha = np.full((n_super, n_sub), 0.02)
    for s in range(n_super):
        alpha[s, rng.choice(n_sub, n_own, replace=False)] = 5.0 * rng.dirichlet(np.full(n_own, 5.0))
    return topoi.PachinkoAllocation(n_super, n_sub, alpha=alpha, root_alpha=ROOT, beta=0.02)


def overlaps(chain: Any, truth: Any, n_super: int) -> NDArray[np.float64]:
    """The overlap of each planted super-topic with the found one that is matched to it."""
    n_sub = len(truth.topic_word)
    alike = np.sqrt(chain.topic_word) @ np.sqrt(truth.topic_word).T
    found, planted = linear_sum_assignment(-alike)
    shares = np.zeros((2, n_super, n_sub))
    shares[0][:, planted] = chain.edge_alpha[n_super:].reshape(n_super, n_sub)[:, found]
    shares[1] = truth.alpha[n_super:].reshape(n_super, n_sub)
    shares /= shares.sum(axis=2, keepdims=True)
    both = np.minimum(shares[0][:, None], shares[1][None]).sum(axis=2)
    return np.asarray(both[linear_sum_assignment(-both)])


def main() -> None:
    """Fit all corpora in all ways and print the table."""
    rows = []
    for shape in SHAPES:
        n_super, n_sub, n_own, n_docs, length = shape
        for moves in (False, True):
            joint, overlap = [], []
            for seed in range(3):
                planted = story(n_super, n_sub, n_own, seed).simulate(n_docs, length, random_state=2)
                options = {"root_alpha": ROOT, "n_iter": 300, "n_chains": 4, "random_state": 1, "evaluate_every": 100}
                with nullcontext() if moves else patch.object(blocks, "move_blocks", lambda *_: None):
                    model = topoi.PachinkoAllocation(n_super, n_sub, **options).fit(planted)
                for chain in model.chains_:
                    joint.append(chain.trace[-1][1] / planted.n_tokens)
                    overlap.append(overlaps(chain, planted.truth, n_super).mean())
            rows.append((f"{n_super} × {n_sub}", moves, np.mean(joint), np.mean(overlap), np.std(overlap) / 12**0.5))
            print(*rows[-1], flush=True)
    columns = ["super × sub", "block moves", "log joint per word", "overlap", "standard error"]
    print(pd.DataFrame(rows, columns=columns).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
