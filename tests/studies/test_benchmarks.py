"""Benchmarks run: code that they measure moves on, and nobody notices until numbers are wanted."""

import json
import subprocess
import sys

import pytest
from benchmarks.runs import RUNS

from shortened import ROOT

# What needs neither other packages nor collections nor a store.
ALONE = {
    run.short
    for run in RUNS.values()
    if "--quick" in run.short or run.module in ("benchmarks.ctm_steps", "benchmarks.on_disk", "benchmarks.saving")
}


@pytest.mark.slow
@pytest.mark.parametrize("words", sorted(ALONE))
def test_a_short_run_ends_with_numbers(words, tmp_path):
    pytest.importorskip("psutil")
    command = [sys.executable, "-m", *words.split(), "--json", str(tmp_path / "kept.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert any(rows for rows in kept.values())
