"""The same bits on narrower machines."""

import pytest

from instruction_sets import MACHINES, check_golden_runs

KERNELS = ["topoi.models.pachinko.four_level.sweep_four_level", "topoi.models.pachinko.general.sweep_general"]


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_golden_runs_on_another_instruction_set(machine, tmp_path):
    check_golden_runs(machine, "pachinko.test_estimator", KERNELS, tmp_path)
