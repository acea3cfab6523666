"""Work that rows wait for."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from topoi.store.tasks import open_tasks


def blas_threads() -> set[int]:
    """How many threads BLAS would use now."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("n_threads", [1, 2])
def test_sums_do_not_depend_on_the_number_of_cores(n_threads: int) -> None:
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with open_tasks(n_threads) as tasks:
            assert tasks.begin(blas_threads)() == {1}
        assert blas_threads() == before
