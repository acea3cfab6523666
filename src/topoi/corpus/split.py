"""Split of a corpus into a training and a test part."""

from __future__ import annotations

import numpy as np

from topoi.errors import CorpusError


def number_of_tests(test_size: float | int, n_docs: int) -> int:
    """Return the number of test documents: an integer is the number itself, a float a share.

    Examples
    --------
    >>> from topoi.corpus.split import number_of_tests
    >>> number_of_tests(0.1, 50), number_of_tests(7, 50)
    (5, 7)
    """
    if isinstance(test_size, (bool, np.bool_)) or not isinstance(test_size, (int, float, np.number)):
        raise CorpusError(f"test_size is {test_size!r}; it must be a number of documents or a share between 0 and 1")
    if isinstance(test_size, (int, np.integer)):
        n_test = int(test_size)
    elif 0 < test_size < 1:
        n_test = max(1, round(float(test_size) * n_docs))
    else:
        raise CorpusError(f"test_size is {test_size!r}; a share lies between 0 and 1, a count is a whole number")
    if not 0 < n_test < n_docs:
        raise CorpusError(f"cannot put {n_test} of {n_docs} documents into the test part; both parts need documents")
    return n_test


def choose_known(order: np.ndarray, doc_author: np.ndarray, doc_author_start: np.ndarray, n_test: int) -> np.ndarray:
    """Choose test documents in the given order so that each of their authors keeps a training document.

    Documents without authors can always be chosen. If there are too few, the error says how many there are.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.split import choose_known
    >>> choose_known(np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 1, 2, 3]), 1).tolist()
    [0]
    """
    left = np.bincount(doc_author, minlength=1).tolist()
    author, start = doc_author.tolist(), doc_author_start.tolist()
    chosen: list[int] = []
    for d in order.tolist():
        names = author[start[d] : start[d + 1]]
        if all(left[a] > 1 for a in names):
            chosen.append(d)
            for a in names:
                left[a] -= 1
            if len(chosen) == n_test:
                return np.array(chosen, np.int64)
    raise CorpusError(
        f"a test part of {n_test} documents whose authors are all known is not possible here: "
        f"with this random_state there are {len(chosen)} such documents"
    )
