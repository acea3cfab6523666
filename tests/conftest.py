"""Rules for the whole suite: a skipped test is announced loudly and, where asked, fails the run.

A test that needs something this machine lacks skips with a reason. On a developer's machine that is fine; where
``TOPOI_FAIL_ON_SKIP=1`` is set (``.ci/run`` does) everything is expected to be there, and a skip is a failure.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("topoi", deadline=None)
settings.load_profile("topoi")

# Terminal width and colour must not depend on who runs the tests.
os.environ.setdefault("COLUMNS", "80")

# Shells start programs in the background with Ctrl-C ignored, for their children too; tests of signals need it.
if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None) and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def stays_here(address: object) -> bool:
    """Whether a connection to this address stays on this machine: a file's, or one of the loopback range."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True, scope="session")
def _no_connection_leaves_this_machine() -> Iterator[None]:
    """Refuse every connection to another machine: an address in an example may belong to somebody.

    Datagram sockets are left alone: for them "connect" only asks which of this machine's addresses would be used.
    """
    patch = pytest.MonkeyPatch()
    for name in ("connect", "connect_ex"):
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, address: object, original: object = original) -> object:
            if self.type == socket.SOCK_STREAM and not stays_here(address):
                raise ConnectionRefusedError(f"tests connect to this machine only, not to {address}")
            return original(self, address)  # type: ignore[operator]

        patch.setattr(socket.socket, name, guarded)
    yield
    patch.undo()


def _skipped_tests(config: pytest.Config) -> list[pytest.TestReport]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return [] if reporter is None else reporter.stats.get("skipped", [])


def _skips_fail() -> bool:
    return os.environ.get("TOPOI_FAIL_ON_SKIP", "") not in ("", "0")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if _skips_fail() and _skipped_tests(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    skipped = _skipped_tests(config)
    if not skipped:
        return
    verdict = "this run fails because tests were skipped" if _skips_fail() else "some tests were skipped"
    terminalreporter.section(f"{verdict}: {len(skipped)}", red=_skips_fail(), yellow=not _skips_fail())
    for report in skipped:
        terminalreporter.line(f"SKIPPED: {report.nodeid}")
