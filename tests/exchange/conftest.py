"""Fitted models of every family, and the store that they are in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import topoi
from exchange.samples import save_all


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    path = tmp_path_factory.mktemp("exchange") / "all.topoi"
    return save_all(path), path


@pytest.fixture(scope="session")
def models(fitted: tuple[dict[str, Any], Path]) -> dict[str, Any]:
    return fitted[0]


@pytest.fixture(scope="session")
def stored(fitted: tuple[dict[str, Any], Path]) -> Path:
    return fitted[1]


@pytest.fixture(params=["model", "view"])
def given(request: pytest.FixtureRequest, models: dict[str, Any], stored: Path) -> Any:
    """A function of a class's name: the fitted model, or a view of it."""
    return models.__getitem__ if request.param == "model" else lambda name: topoi.view(stored, name)
