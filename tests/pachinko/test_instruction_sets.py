"""The same bits on narrower machines: the golden runs again, compiled for older instruction sets."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from author_topic.test_instruction_sets import MACHINES

SCRIPT = """
import warnings
warnings.simplefilter("ignore")
from pachinko.test_estimator import GOLDEN, digest, golden_model
from topoi.models.pachinko import four_level, general
for name in GOLDEN:
    assert digest(golden_model(name)) == GOLDEN[name], name
for kernel in (four_level.sweep_with, general.sweep_with):
    for signature in kernel.signatures:
        text = kernel.inspect_asm(signature)
        assert "xmm" in text and len(text) > 1000, "nothing was compiled here"
        assert "zmm" not in text, "compiled for this machine, not for the one asked for"
print("same bits")
"""


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_golden_runs_on_another_instruction_set(machine, tmp_path):
    name, features = MACHINES[machine]
    environment = os.environ | {
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": features,
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert result.stdout.strip() == "same bits", result.stderr[-2000:]
