"""``topoi browse``: ports, messages, a clean end."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from topoi.cli.main import main
from topoi.errors import StoreError
from topoi.web import run

SOURCE = Path(run.__file__).parents[2]


def start(*arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "topoi.cli.main", "browse", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_serves_and_ends_with_control_c(path):
    process = start(path, "--no-open")
    try:
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.status == 200
            assert answer.headers["content-security-policy"]
            assert "server" not in {name.lower() for name in answer.headers}
        assert "Ctrl-C" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0
    assert err == ""


ENDLESS = """
import sys
from topoi.web import edits
from topoi.web.run import serve
edits.N_SWEEPS = 10**6
serve(sys.argv[1], open_browser=False, say=lambda line: print(line, flush=True))
"""


@pytest.mark.slow
def test_control_c_gives_up_a_change_that_settles(path):
    before = Path(path).read_bytes()
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", ENDLESS, str(path)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = f"{process.stdout.readline().strip()}m/four~20topics/"

        def ask(page, **form):
            body = urllib.parse.urlencode(form).encode() if form else None
            with urllib.request.urlopen(f"{address}{page}", body, timeout=60) as answer:
                return answer.read().decode()

        token = re.search(r'name="token" value="([^"]+)"', ask("topic/0")).group(1)
        ask("change", token=token, topic=0, split=2)
        while '"state":"trying"' in (view := ask("change/1.json")):
            time.sleep(0.05)
        assert '"state":"proposed"' in view
        ask("change/1/keep", token=token)
        while '"n_done":0' in ask("change/1.json"):
            time.sleep(0.05)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert time.monotonic() - began < 10  # two seconds, on a machine with nothing else to do
    finally:
        process.kill()
    assert (process.returncode, err) == (0, "")
    assert Path(path).read_bytes() == before


@pytest.mark.slow
def test_begins_with_the_model_named(path):
    process = start(path, "--no-open", "--name", "four topics", "--read-only")
    try:
        address = process.stdout.readline().strip()
        assert address.endswith("/m/four~20topics/")
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert b"four topics" in answer.read()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


@pytest.mark.slow
def test_other_hosts_come_with_a_warning(path):
    process = start(path, "--no-open", "--host", "0.0.0.0")
    try:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "no password" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.topoi"], "no such file"),
        (["."], "is a folder"),
        (["FILE", "--name", "none"], "there is no model 'none'"),
        (["FILE", "--host", "300.1.2.3"], "cannot listen on 300.1.2.3"),
    ],
)
def test_errors_are_one_line(path, capsys, arguments, message):
    given = [str(path) if word == "FILE" else word for word in arguments]
    assert main(["browse", *given, "--no-open"]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) <= 2
    assert "Traceback" not in error


def test_port_in_use(path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["browse", str(path), "--no-open", "--port", str(port)]) == 1
    assert "choose another with --port" in capsys.readouterr().err


def test_next_port_is_taken_if_none_was_asked_for(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(run, "DEFAULT_PORT", taken.getsockname()[1])
        with run.listen("127.0.0.1", None) as door:
            assert taken.getsockname()[1] < door.getsockname()[1] < taken.getsockname()[1] + 50
        monkeypatch.setattr(run, "_PORTS_TRIED", 1)
        with pytest.raises(StoreError, match="is free"):
            run.listen("127.0.0.1", None)


def test_missing_packages_are_named(path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["browse", str(path), "--no-open"]) == 1
    assert 'pip install "topoi[web]"' in capsys.readouterr().err


def test_screen(monkeypatch):
    for name in ("SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not run.has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert run.has_screen()
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    assert not run.has_screen()


def test_heavy_packages_stay_away(path):
    script = (
        "import sys\nfrom topoi.web.app import make_app\nfrom topoi.web.run import warm\n"
        f"warm(make_app({str(path)!r}))\nprint('sklearn' in sys.modules, 'plotly' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert found.stdout.split() == ["False", "False"]


def test_warming_never_fails(path, tmp_path):
    from topoi.web.app import make_app

    app = make_app(path)
    began = time.monotonic()
    run.warm(app)
    assert time.monotonic() - began < 60
    Path(path).unlink()
    run.warm(make_app(path))
