"""The report of a fit, ``fit_info_``."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.models.aspect.fitting import Run
from topoi.models.aspect.learning import ALPHA_RANGE

# From this alpha on, the EP evidence is off by a tenth of a nat or less on average (docs/aspect.md).
RELIABLE_ALPHA = 0.5
# An aspect that explains less than half a word is dead.
_DEAD_BELOW = 0.5


def fit_report(model: Any, runs: list[Run], best: int, seconds: float) -> dict[str, Any]:
    """Return ``fit_info_``; ``runs`` are the starts, ``best`` the one that was kept."""
    run = runs[best]
    outcome, rule = run.inferred.outcome, model._final_rule()
    skipped = int(outcome.skipped.sum())
    alpha = run.parameters.alpha[: run.parameters.n_aspects]
    n_tokens = model.corpus_.n_tokens
    steps = sum(each.n_steps for each in runs)
    return {
        "model": type(model).__name__,
        "inference": model.inference,
        "learning": model.learning,
        "seed": model._seed,
        "n_sweeps": model.n_iter_,
        "n_chains": 1,
        "n_restarts": len(runs),
        "best_restart": best,
        "restart_log_likelihoods": [each.evidence for each in runs],
        "log_likelihood": run.evidence,
        "log_likelihood_per_token": run.evidence / max(n_tokens, 1),
        "converged": bool(run.converged),
        "last_change": run.change if np.isfinite(run.change) else None,
        "sites_kept": bool(run.keeps_sites),
        "skipped_words": skipped,
        "skipped_documents": int((outcome.skipped > 0).sum()),
        "unsettled_documents": int((outcome.change >= rule.tolerance).sum()),
        "mean_passes": float(outcome.passes.mean()) if len(outcome.passes) else 0.0,
        "dead_aspects": int((run.sizes < _DEAD_BELOW).sum()) if n_tokens and run.n_steps else 0,
        "advice": _advice(model, float(alpha.min()), skipped),
        "interrupted": runs[-1].interrupted,
        "stopped": runs[-1].stopped,
        "seconds": seconds,
        "tokens_per_second": n_tokens * steps / seconds if seconds > 0 and steps else None,
    }


def _advice(model: Any, least_alpha: float, skipped: int) -> str | None:
    """Warnings about an unreliable alpha or evidence, with advice."""
    notes = []
    if model.learn_alpha and least_alpha <= ALPHA_RANGE[0]:
        notes.append(
            f"alpha has fallen to its limit of {ALPHA_RANGE[0]:g}, where each document has one aspect and new ones are "
            "predicted badly: hold it, for example by alpha=0.1, learn_alpha=False"
        )
    if model.inference == "vb":
        notes.append('the evidence is a lower bound: compare models by log_likelihood(..., estimator="filter")')
    elif skipped or (least_alpha < RELIABLE_ALPHA and (model.learn_alpha or model.alpha is not None)):
        reason = f"alpha is as low as {least_alpha:.3g}, where the evidence of expectation propagation can be off"
        if skipped:
            reason = f"expectation propagation had to skip {skipped:,} words"
        notes.append(f'{reason}: for document probabilities use log_likelihood(..., estimator="filter")')
    return "; ".join(notes) or None
