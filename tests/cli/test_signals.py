"""Ctrl-C and SIGTERM to real processes: an answer soon, what there is saved, one line and no traceback."""

import json
import os
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
    "kernel": ["--model", "kernel", "--features", "year", "-k", "3", "--warmup", "99999"],
    "dmr": ["--model", "dmr", "--features", "year", "-k", "5"],
}
# Designed for two seconds and a save; the machine may be busy.
LONGEST = 30.0


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


def start(documents, output, options):
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
    # The line is there as soon as the program hears signals.
    code = "import sys; from topoi.cli.start import main; print('begun', flush=True); sys.exit(main())"
    command = [sys.executable, "-c", code, "fit", str(documents), *options, "-o", str(output), "-i", "100000000"]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# Each takes seconds of waiting: most are among the slow tests.
QUICK = {"author": signal.SIGTERM, "sparse pachinko": signal.SIGINT, "kernel": signal.SIGTERM}


def case(family, number):
    marks = () if QUICK.get(family) == number else pytest.mark.slow
    return pytest.param(family, number, id=f"{family}-{number.name}", marks=marks)


CASES = [case(family, number) for family in FAMILIES for number in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize(("family", "number"), CASES)
def test_a_signal_ends_a_fit_with_what_there_is(documents, family, number, tmp_path):
    process = start(documents, tmp_path / "m.topoi", FAMILIES[family])
    for line in process.stderr:
        if "tokens of" in line:
            break
    time.sleep(5)
    begin = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert time.monotonic() - begin < LONGEST
    assert process.returncode == 128 + number and "Traceback" not in errors
    if "nothing to keep" in errors:  # a machine so busy that not one sweep was done
        return
    assert f"saving what there is in {tmp_path / 'm.topoi'}" in errors
    assert topoi.load(tmp_path / "m.topoi").fit_info_["stopped"] == number.name


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
    process = start(documents, tmp_path / "m.topoi", FAMILIES["lda"])
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode == 128 + number
    assert errors.splitlines()[-1] == "topoi: interrupted; nothing was saved"
    assert not (tmp_path / "m.topoi").exists()
