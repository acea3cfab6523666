"""No test connects to another machine: examples have addresses that may belong to somebody."""

from __future__ import annotations

import socket

import pytest

from conftest import stays_here


@pytest.mark.parametrize("host", ["10.0.0.7", "192.168.1.1", "8.8.8.8", "::2", "scheduler"])
def test_connections_to_other_machines_are_refused(host: str) -> None:
    assert not stays_here((host, 8786))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        with pytest.raises(ConnectionRefusedError, match="this machine only"):
            connection.connect((host, 8786))
        with pytest.raises(ConnectionRefusedError, match="this machine only"):
            connection.connect_ex((host, 8786))


def test_connections_to_this_machine_are_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as connection:
        assert connection.getpeername() == server.getsockname()
