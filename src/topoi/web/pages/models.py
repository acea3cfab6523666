"""The models in the file, and their settings and fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.store.door import stored_json
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page
from topoi.web.pages.shapes import Model

MOST_MODELS = 200
MOST_POINTS = 200


class Trace(TypedDict):
    """Trace of a chain's log joint."""

    chain: int
    sweep: list[int]
    log_joint: list[float | None]


class FullModel(Model):
    """A model with how it was made."""

    seed: int | None
    topoi_version: str
    settings: dict[str, Any]
    trace: list[Trace]


class ModelsPage(TypedDict):
    """The models in the file, the one saved last first."""

    kind: Literal["models"]
    models: list[FullModel]


def models_page(context: PageContext) -> ModelsPage:
    """All models of the file with their settings and how the fits went, the one saved last first."""
    details = {row[0]: row[1:] for row in context.rows("model_details", n=MOST_MODELS)}
    traces = _traces(context.rows("traces"))
    return ModelsPage(
        kind="models",
        models=[
            FullModel(
                **model,
                seed=details[model["name"]][0],
                topoi_version=str(details[model["name"]][1]),
                settings=_settings(details[model["name"]][2]),
                trace=traces.get(model["name"], []),
            )
            for model in context.snapshot.models
            if model["name"] in details
        ],
    )


def _settings(packed: object) -> dict[str, Any]:
    settings = stored_json(packed, "a model", "model.bundle")["settings"]
    return {str(name): _shown(value) for name, value in settings.items() if name not in ("progress", "checkpoint")}


def _shown(value: object) -> Any:
    """A setting for display; a long list, such as a prior for every word, by its length."""
    if isinstance(value, list) and len(value) > 10:
        return f"{len(value):,} values"
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _traces(rows: list[Any]) -> dict[str, list[Trace]]:
    found: dict[str, dict[int, list[tuple[int, Any]]]] = {}
    for name, chain, sweep, value in rows:
        found.setdefault(name, {}).setdefault(chain, []).append((sweep, value))
    return {name: [_trace(chain, points) for chain, points in sorted(chains.items())] for name, chains in found.items()}


def _trace(chain: int, points: list[tuple[int, Any]]) -> Trace:
    """Values of a chain, thinned for a chart; always including the last."""
    step = -(-len(points) // MOST_POINTS)
    kept = points[::-1][::step][::-1]
    return Trace(chain=chain, sweep=[sweep for sweep, _ in kept], log_joint=[value for _, value in kept])


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    return "model.store.models()"


PAGE = Page("models", "Models", "models", models_page, ModelsPage, place=160, python=_python)
