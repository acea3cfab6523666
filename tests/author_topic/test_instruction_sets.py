"""The same bits on narrower machines."""

import pytest

from instruction_sets import MACHINES, check_golden_runs

KERNELS = [
    "topoi.models.author_topic.kernels.sweep",
    "topoi.models.author_topic.word_major.sweep_words",
    "topoi.models.author_topic.topic_lists.sweep_lists",
    "topoi.models.author_topic.word_lists.sweep_listed",
]


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_golden_runs_on_another_instruction_set(machine, tmp_path):
    check_golden_runs(machine, "author_topic.test_chains", KERNELS, tmp_path)
