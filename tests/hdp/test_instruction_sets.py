"""The same bits on narrower machines."""

import pytest

from instruction_sets import MACHINES, check_golden_runs


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_golden_runs_on_another_instruction_set(machine, tmp_path):
    check_golden_runs(machine, "hdp.test_model", ["topoi.models.hdp.kernels.sweep"], tmp_path)
