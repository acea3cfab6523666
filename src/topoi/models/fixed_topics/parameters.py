"""Topics and Dirichlet in the form in which the kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.doubles import padded


class Parameters(NamedTuple):
    """P(word | aspect), words × aspects, and the Dirichlet parameter of each aspect, padded with zeros to vectors."""

    word_aspect: NDArray[np.float64]
    alpha: NDArray[np.float64]
    n_aspects: int

    @classmethod
    def pad(cls, word_aspect: NDArray[np.float64], alpha: NDArray[np.float64]) -> Parameters:
        """Build from arrays without padding.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.fixed_topics.parameters import Parameters
        >>> Parameters.pad(np.ones((1, 3)), np.ones(3)).word_aspect.shape
        (1, 8)
        """
        n = len(alpha)
        return cls(with_padding(word_aspect), with_padding(alpha[None, :])[0], n)

    def writable(self) -> Parameters:
        """A copy if arrays are read-only, as in a memory-mapped model: numba would compile again for those."""
        words, alpha = (np.require(array, requirements=("C", "W")) for array in (self.word_aspect, self.alpha))
        return Parameters(words, alpha, self.n_aspects)

    def with_alpha(self, alpha: NDArray[np.float64]) -> Parameters:
        """The same aspects with another alpha."""
        return self._replace(alpha=with_padding(alpha[None, :])[0])


def with_padding(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows padded with zeros to whole vectors, as kernels expect them."""
    room = np.zeros((len(rows), padded(rows.shape[1])))
    room[:, : rows.shape[1]] = rows
    return room
