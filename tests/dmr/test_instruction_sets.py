"""The same bits on narrower machines."""

import pytest

from instruction_sets import MACHINES, check_golden_runs


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_golden_runs_on_another_instruction_set(machine, tmp_path):
    kernels = [
        "topoi.models.author_topic.kernels.sweep_with_priors",
        "topoi.models.author_topic.word_lists.sweep_listed_with_priors",
    ]
    check_golden_runs(machine, "dmr.test_sampler", kernels, tmp_path)
