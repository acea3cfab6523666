"""Checkpoints of models, whatever way they are fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.checkpoint import Checkpoint
from topoi.errors import ModelError
from topoi.models.base import FREE_TO_CHANGE, FittedModel
from topoi.models.contract import SeedLike


class TrainedModel(FittedModel):
    """A model fitted by the engine's loop, with a checkpoint that is tied to its settings and its corpus."""

    random_state: SeedLike
    checkpoint: str | Path | None
    checkpoint_every: int | str

    def _identity(self, corpus: Corpus, **facts: object) -> dict[str, Any]:
        """Settings and facts that must agree for a checkpoint to be continued."""
        settings = self._plain_settings(self.get_params(deep=False))
        settings = {name: value for name, value in settings.items() if name not in FREE_TO_CHANGE}
        return settings | {"model": type(self).__name__, "corpus": corpus.fingerprint()} | facts

    def _open_checkpoint(self, corpus: Corpus, **facts: object) -> Checkpoint | None:
        """The file of the setting ``checkpoint``, if it is given; nothing is read yet."""
        if self.checkpoint is None:
            return None
        return Checkpoint(self.checkpoint, self.checkpoint_every, self._identity(corpus, **facts), corpus.scratch)

    def _continued(
        self,
        store: Checkpoint | None,
        seed: int,
        n_iter: int,
        rebuild: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Any],
    ) -> tuple[int, int]:
        """Seed and number of sweeps of a checkpoint, whose state ``rebuild`` has taken over; or ``seed`` and 0."""
        given = None if self.random_state is None else seed
        return (store and store.restore(given, n_iter, rebuild)) or (seed, 0)


def checked_floats(arrays: Mapping[str, ArrayOrPieces], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Copy of an array of finite float64 numbers from a checkpoint; one of another shape is a ``ModelError``.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.trained import checked_floats
    >>> checked_floats({"y": np.ones((2, 1))}, "y", (2, 1)).tolist()
    [[1.0], [1.0]]
    """
    found = np.array(arrays[name], order="C")
    if found.dtype != np.float64 or found.shape != shape:
        raise ModelError(f"{name} is {found.dtype} of shape {found.shape}, not float64 of shape {shape}")
    if not np.isfinite(found).all():
        raise ModelError(f"{name} has entries that are not finite")
    return found
