"""What the studies of kernel topic models have in common: splits, a run that can be resumed, tables and ratios."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import topoi
from studies.same_start import measured

OUT = Path(__file__).parents[1] / "docs" / "studies"
Fit = Callable[[topoi.Corpus, int], Any]


def folds(group: NDArray[Any], n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fold for each document: whole groups, in random order, each to the smallest fold so far.

    Every document is held out exactly once, so that no kind of document is in the test sets more often than others.
    """
    found, load = np.zeros(len(group), np.int64), np.zeros(n_folds)
    for each in rng.permutation(np.unique(group)):
        fold = int(np.argmin(load))
        found[group == each] = fold
        load[fold] += (group == each).sum()
    return found


def run(
    corpus: topoi.Corpus,
    splits: Mapping[str, Sequence[NDArray[np.bool_]]],
    models: Mapping[str, Fit],
    observed: tuple[int, ...],
    path: Path,
) -> list[dict[str, Any]]:
    """Fit and measure every model on every split; what the file has already is not done again."""
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    done = {(row["kind"], row["split"], row["model"]) for row in rows}
    longest = max(map(len, splits.values()))
    for number in range(longest):
        for kind, held in splits.items():
            if number >= len(held):
                continue
            train, test = corpus.subset(~held[number]), corpus.subset(held[number])
            for name, fit in models.items():
                if (kind, number, name) in done:
                    continue
                begin = time.process_time()
                with threadpool_limits(limits=1, user_api="blas"):
                    model = fit(train, number)
                    seconds = time.process_time() - begin
                    row = {"kind": kind, "split": number, "model": name, "n_test": test.n_docs, "seconds": seconds}
                    rows.append(row | measured(model, train, test, observed) | {"learned": learned(model)})
                path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
                print(kind, number, name, rows[-1]["perplexity"], f"{seconds:.0f} s", flush=True)
    return rows


def learned(model: Any) -> Any:
    """What a model chose for itself."""
    return model.chosen if hasattr(model, "chosen") else repr(model.kernel_)


def values(rows: list[dict[str, Any]], kind: str, model: str, read: Callable[[dict[str, Any]], float]) -> Any:
    """One number for each split, in the order of splits."""
    mine = sorted((row for row in rows if row["kind"] == kind and row["model"] == model), key=lambda row: row["split"])
    return np.array([read(row) for row in mine])


def mean_and_error(numbers: Any, digits: int) -> str:
    """The mean over splits with its standard error."""
    error = np.std(numbers, ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else np.nan
    return f"{np.mean(numbers):.{digits}f} ± {error:.{digits}f}"


def complete(rows: list[dict[str, Any]], models: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of splits on which every model has been measured: only those can be compared."""
    there = {(row["kind"], row["split"], row["model"]) for row in rows}
    return [row for row in rows if all((row["kind"], row["split"], name) in there for name in models)]


def table(
    rows: list[dict[str, Any]], models: Sequence[str], kinds: Sequence[str], read: Callable[..., float], digits: int
) -> list[str]:
    """Models × kinds of split."""
    lines = [f"| model | {' | '.join(kinds)} |", "|---|" + "---|" * len(kinds)]
    for name in models:
        cells = [mean_and_error(values(rows, kind, name, read), digits) for kind in kinds]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def ratios(rows: list[dict[str, Any]], pairs: Sequence[tuple[str, str]], kinds: Sequence[str], seen: str) -> list[str]:
    """Ratios of perplexities, paired by split."""
    lines = [f"| ratio | {' | '.join(kinds)} |", "|---|" + "---|" * len(kinds)]
    for above, below in pairs:
        cells = []
        for kind in kinds:
            both = [values(rows, kind, name, lambda row: row["perplexity"][seen]) for name in (above, below)]
            cells.append(mean_and_error(both[0] / both[1], 3))
        lines.append(f"| {above} / {below} | {' | '.join(cells)} |")
    return lines


def completion_table(
    rows: list[dict[str, Any]], models: Sequence[str], kind: str, observed: tuple[int, ...]
) -> list[str]:
    """Perplexity of the rest after some words were seen, models × numbers of words."""
    lines = [f"| model | {' | '.join(map(str, observed))} |", "|---|" + "---|" * len(observed)]
    for name in models:
        cells = []
        for n in map(str, observed):
            cells.append(f"{np.mean(values(rows, kind, name, lambda row, n=n: row['perplexity'][n])):.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def write_page(
    path: Path,
    head: str,
    rows: list[dict[str, Any]],
    models: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    observed: tuple[int, ...],
) -> None:
    """A page on random splits alone: perplexities by words seen, ratios, and the bands."""
    rows = complete(rows, models)
    n = len(values(rows, "random", models[0], lambda row: 1.0))
    if not n:
        return
    lines = [head.format(n=n), "## Perplexity of the rest, by how many words of the document were seen", ""]
    lines += ["Zero: metadata alone. Seen words are drawn at random, the same for all models.", ""]
    lines += [f"| model | {' | '.join(map(str, observed))} |", "|---|" + "---|" * len(observed)]
    for name in models:
        cells = [_cell(values(rows, "random", name, lambda row, m=m: row["perplexity"][str(m)]), 0) for m in observed]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for above, below in pairs:
        cells = []
        for m in map(str, observed):
            both = [values(rows, "random", name, lambda row, m=m: row["perplexity"][m]) for name in (above, below)]
            cells.append(_cell(both[0] / both[1], 3))
        lines.append(f"| {above} / {below} | {' | '.join(cells)} |")
    lines += ["", "## Honesty of the bands", ""]
    lines += [
        "How often 80 % bands hold the shares that a document's own words show, exactly and within half a per cent;"
    ]
    lines += [
        "CRPS (continuous ranked probability score; lower is better) of these shares, × 1000; seconds of processor time for a fit.",
        "",
    ]
    lines += ["| model | coverage | within 0.5 % | CRPS | seconds |", "|---|---|---|---|---|"]
    for name in models:
        cells = [
            _cell(values(rows, "random", name, lambda row: row["coverage"]), 2),
            _cell(values(rows, "random", name, lambda row: row["coverage_within_half_a_percent"]), 2),
            _cell(values(rows, "random", name, lambda row: 1000 * row["crps"]), 2),
            f"{np.mean(values(rows, 'random', name, lambda row: row['seconds'])):.0f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(numbers: Any, digits: int) -> str:
    return mean_and_error(numbers, digits) if len(numbers) > 1 else f"{numbers[0]:.{digits}f}"
