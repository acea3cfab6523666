"""Level of the test behind ``compare_groups``: how often groups that do not differ have small p-values.

    python -m studies.group_levels [--tests 40000]

Mixtures of documents are Dirichlet with the same means in both groups; topics are common and rare. Of a test that keeps
its level, as many p-values are below 5 %, 1 %, 0.1 % and 0.01 % as these numbers say. The last two are below what
permutations alone can give: they rest on the fitted tail. Writes docs/studies/group-levels.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topoi.analysis.permutations import permutation_p_values

OUT = Path(__file__).parents[1] / "docs" / "studies" / "group-levels.json"
LEVELS = (0.05, 0.01, 0.001, 0.0001)
N_TOPICS = 20


class Case(NamedTuple):
    """Documents of both groups, and permutations."""

    ours: int
    theirs: int
    n_permutations: int


CASES = [Case(30, 30, 499), Case(30, 30, 999), Case(20, 200, 499), Case(200, 200, 499), Case(200, 200, 999), Case(500, 4500, 499)]  # fmt: skip


def p_values(case: Case, seed: int) -> NDArray[np.float64]:
    """P-values of all topics, half of which have a hundredth of the words or less."""
    rng = np.random.default_rng([seed, *case])
    n = case.ours + case.theirs
    means = np.concatenate((np.full(10, 0.095), np.full(10, 0.005)))
    lengths = np.maximum(rng.lognormal(4, 0.6, n).round(), 2).astype(np.int64)
    mixtures = rng.standard_gamma(np.broadcast_to(means * 5.0, (n, N_TOPICS)))
    counts = rng.multinomial(lengths, mixtures / mixtures.sum(axis=1, keepdims=True))
    marks = np.arange(n) < case.ours
    return permutation_p_values(csr_array(counts), lengths.astype(np.float64), marks, case.n_permutations, seed)


def measure(case: Case, n_tests: int) -> dict[str, Any]:
    """Shares of p-values below the levels: of common topics, and of rare ones."""
    began = time.process_time()
    found = np.stack([p_values(case, seed) for seed in range(n_tests // N_TOPICS)])
    shares = [[float((part <= level).mean()) for level in LEVELS] for part in (found[:, :10], found[:, 10:])]
    result = {**case._asdict(), "n_tests": found.size, "seconds": time.process_time() - began}
    return result | dict(zip(("common", "rare"), shares, strict=True))


def main() -> None:
    """Print the table, and keep its numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=40_000)
    given = parser.parse_args()
    print("| documents | permutations | topics | " + " | ".join(f"{100 * level:g} %" for level in LEVELS) + " |")
    print("|---|---:|---|" + "---:|" * len(LEVELS))
    results = []
    for case in CASES:
        results.append(measure(case, given.tests))
        for kind in ("common", "rare"):
            cells = " | ".join(f"{100 * share:.3g} %" for share in results[-1][kind])
            print(f"| {case.ours} and {case.theirs} | {case.n_permutations} | {kind} | {cells} |", flush=True)
    OUT.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
