"""Golden runs compiled for older instruction sets: the same bits on narrower machines."""

import os
import subprocess
import sys
from pathlib import Path

MACHINES = {
    "AVX2": ("haswell", "+avx2,+fma,+avx,+sse4.2"),
    "SSE2": ("generic", "+sse2"),
}

SCRIPT = """
import warnings
warnings.simplefilter("ignore")
from importlib import import_module
from {golden} import GOLDEN, digest, golden_model
for name in GOLDEN:
    assert digest(golden_model(name)) == GOLDEN[name], name
for place in {kernels}:
    module, _, kernel = place.rpartition(".")
    compiled = getattr(import_module(module), kernel)
    assert compiled.signatures, "nothing was compiled here"
    for signature in compiled.signatures:
        text = compiled.inspect_asm(signature)
        assert "xmm" in text and len(text) > 1000, "nothing was compiled here"
        assert "zmm" not in text, "compiled for this machine, not for the one asked for"
print("same bits")
"""


def check_golden_runs(machine: str, golden: str, kernels: list[str], cache: Path) -> None:
    """Run a family's golden runs (a module of tests) as another machine would; ``kernels`` must be compiled for it."""
    name, features = MACHINES[machine]
    environment = os.environ | {
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": features,
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    command = [sys.executable, "-c", SCRIPT.format(golden=golden, kernels=kernels)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert result.stdout.strip() == "same bits", result.stderr[-2000:]
