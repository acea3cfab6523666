"""Convergence diagnostics of chains: R-hat and effective sample size of the log joint, by arviz."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from topoi.errors import ModelError


def trace_frame(traces: list[list[tuple[int, float]]], n_tokens: int) -> pd.DataFrame:
    """Frame of the traces of all chains: chain, sweep, log_joint, log_joint_per_token."""
    rows = [(c, int(s), v, v / max(n_tokens, 1)) for c, trace in enumerate(traces) for s, v in trace]
    return pd.DataFrame(rows, columns=["chain", "sweep", "log_joint", "log_joint_per_token"])


def best_first(traces: list[list[tuple[int, float]]], every: int) -> list[int]:
    """Numbers of the chains by the mean log joint of the second half of their runs, highest first, ties by number.

    Only every ``every``-th sweep counts (the last alone if the run is shorter), so that extra evaluations where a run
    was stopped and resumed make no difference.

    Examples
    --------
    >>> from topoi.engine.chains import best_first
    >>> best_first([[(10, -9.0), (20, -5.0)], [(10, -1.0), (20, -6.0)], [(10, -9.0), (20, -4.0)]], 10)
    [2, 0, 1]
    """
    means = []
    for trace in traces:
        late = [value for sweep, value in trace if 2 * sweep > trace[-1][0] and sweep % every == 0]
        late = late or [value for _, value in trace[-1:]]
        means.append(sum(late) / len(late) if late else 0.0)
    return sorted(range(len(traces)), key=lambda c: (-means[c], c))


def diagnose(trace: pd.DataFrame, burn_in: float = 0.5) -> dict[str, Any]:
    """R-hat and effective sample size of the log joint after the first ``burn_in`` of each chain.

    Examples
    --------
    >>> from topoi.engine.chains import diagnose, trace_frame
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(2, 40))
    >>> frame = trace_frame([list(enumerate(row)) for row in noise], n_tokens=1)
    >>> sorted(diagnose(frame))
    ['ess', 'n_chains', 'n_draws', 'r_hat']
    """
    if not 0.0 <= burn_in < 1.0:
        raise ModelError(f"burn_in is {burn_in!r}; it is the share of the trace to leave out: from 0 to below 1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # arviz warns of its next version on import
            import arviz
    except ImportError as error:
        raise ImportError('chain diagnostics need arviz: pip install "topoi[diagnostics]"') from error
    table = trace.pivot(index="sweep", columns="chain", values="log_joint").dropna().to_numpy().T
    kept = table[:, int(table.shape[1] * burn_in) :]
    if kept.shape[1] < 4:
        raise ModelError(f"the trace has {kept.shape[1]} values after burn-in; at least 4 are needed: run longer")
    values = np.ascontiguousarray(kept)
    r_hat = float(arviz.rhat(values)) if len(values) > 1 else float("nan")
    return {"r_hat": r_hat, "ess": float(arviz.ess(values)), "n_chains": len(values), "n_draws": values.shape[1]}
