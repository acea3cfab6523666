"""Ctrl-C and SIGTERM to real processes: an answer soon, what there is saved, one line and no traceback."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import topoi

SOURCE = Path(topoi.__file__).parents[1]
FAMILIES = {
    "lda": ["--model", "lda", "-k", "5"],
    "author": ["--model", "author"],
    "sparse pachinko": ["--model", "pachinko", "--super", "3", "--sub", "5", "--sparse"],
    "kernel": ["--model", "kernel", "--features", "year", "-k", "3", "--warmup", "2"],
    "aspect": ["--model", "aspect", "--aspects", "3"],
    "dmr": ["--model", "dmr", "--features", "year", "-k", "5"],
}
# The sweep after which the signal comes; the processor time until all is saved, for which two seconds must suffice on
# an idle machine: on a busy one every instruction takes longer.
AFTER, MOST_SECONDS = 4, 4.0


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("signals") / "docs.jsonl", np.random.default_rng(0)
    rows = [
        {
            "text": " ".join(f"word{w}" for w in rng.integers(0, 300, 60)),
            "authors": [f"A{d % 5}", f"A{(d + 1) % 5}", f"A{(d + 2) % 5}"],
            "year": 1900 + d % 50,
        }
        for d in range(150)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


# The line is there as soon as the program hears signals.
BEGUN = "import sys; from topoi.cli.start import main; print('begun', flush=True); sys.exit(main())"
# Lines with the number of each sweep that was done, and the processor time until then.
SWEEPS = """
import sys, time
from topoi.cli.start import main
from topoi.engine.progress import Silent
Silent.update = lambda self, info: print(info.sweep, time.process_time(), flush=True) if info.sweep < 9 else None
sys.exit(main())
"""


def start(documents, output, options, code, n_iter="100000000"):
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", code, "fit", str(documents), *options, "-o", str(output), "-i", n_iter]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# Each is a process with all its imports: most are among the slow tests.
QUICK = {"author": signal.SIGTERM}


def case(family, number):
    marks = () if QUICK.get(family) == number else pytest.mark.slow
    return pytest.param(family, number, id=f"{family}-{number.name}", marks=marks)


CASES = [case(family, number) for family in FAMILIES for number in (signal.SIGINT, signal.SIGTERM)]


def interrupted_fit(documents, family, number, path):
    """Fit a family until a signal comes after some sweeps; the processor time from then to the end of the process."""
    earlier = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = start(documents, path, [*FAMILIES[family], "--force"], SWEEPS)
    for line in process.stdout:
        sweep, before = line.split()
        if int(sweep) == AFTER:
            break
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + number and "Traceback" not in errors
    assert f"saving what there is in {path}" in errors
    if "that would take long" in errors:  # a busy machine: the checkpoint has the sweeps, the same command goes on
        done = int(re.search(r"long; (\d+) sweeps", errors)[1])
        assert done >= AFTER
        start(documents, path, [*FAMILIES[family], "--force"], SWEEPS, str(done + 4)).communicate(timeout=120)
        assert topoi.load(path).n_iter_ == done + 4
        return 0.0
    model = topoi.load(path)
    assert model.fit_info_["stopped"] == number.name and model.n_iter_ >= AFTER
    whole = resource.getrusage(resource.RUSAGE_CHILDREN)
    return whole.ru_utime + whole.ru_stime - earlier.ru_utime - earlier.ru_stime - float(before)


@pytest.mark.parametrize(("family", "number"), CASES)
def test_a_signal_ends_a_fit_with_what_there_is(documents, family, number, tmp_path):
    taken = interrupted_fit(documents, family, number, tmp_path / "m.topoi")
    if taken > MOST_SECONDS:  # the first time a save may have to compile something
        taken = interrupted_fit(documents, family, number, tmp_path / "m.topoi")
    assert taken < MOST_SECONDS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_aspect_model_keeps_its_steps(number):
    def press(info):
        if info.sweep == 3:
            signal.raise_signal(number)

    corpus = topoi.LDA(4, alpha=0.2, beta=0.05).simulate(40, 30, random_state=1)
    model = topoi.AspectModel(3, random_state=0).fit(corpus, callback=press)
    assert model.n_iter_ == 3 and model.fit_info_["interrupted"] and model.fit_info_["stopped"] == number.name
    assert np.isfinite(model.perplexity(corpus))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("delay", [0.1, 0.8])
def test_a_signal_while_importing_is_one_line(documents, number, delay, tmp_path):
    process = start(documents, tmp_path / "m.topoi", FAMILIES["lda"], BEGUN)
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode == 128 + number
    assert errors.splitlines()[-1] == "topoi: interrupted; nothing was saved"
    assert not (tmp_path / "m.topoi").exists()


# As ``SWEEPS``, on a machine where every save takes too long.
SLOW_SAVES = "import topoi.cli.saving\ntopoi.cli.saving._SECONDS_TO_SAVE = 0.0\n" + SWEEPS


@pytest.mark.slow
@pytest.mark.parametrize("family", ["lda", "aspect"])
def test_a_fit_that_could_not_be_saved_in_time_is_kept_beside_its_file(documents, family, tmp_path):
    path, beside = tmp_path / "m.topoi", tmp_path / "m.topoi.checkpoint"
    process = start(documents, path, FAMILIES[family], SLOW_SAVES)
    for line in process.stdout:
        if int(line.split()[0]) == AFTER:
            break
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM and "Traceback" not in errors
    assert f"kept in {beside}" in errors and beside.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [beside.name]  # no part of a model file
    n_sweeps = errors.rpartition("with -i ")[2].split()[0]
    done = start(documents, path, [*FAMILIES[family], "--quiet"], BEGUN, n_sweeps)
    _, errors = done.communicate(timeout=120)
    assert done.returncode == 0 and f"going on from {beside}" in errors
    assert not beside.exists()
    whole = start(documents, tmp_path / "whole.topoi", [*FAMILIES[family], "--quiet"], BEGUN, n_sweeps)
    whole.communicate(timeout=120)
    continued, undisturbed = topoi.load(path), topoi.load(tmp_path / "whole.topoi")
    assert continued.n_iter_ == int(n_sweeps) >= AFTER
    np.testing.assert_array_equal(continued.topic_word_, undisturbed.topic_word_)
