"""Entry point of the ``topoi`` program: light to import, so that Ctrl-C is handled from the start."""

from __future__ import annotations

import os
import sys

from topoi.cli.signals import nothing_to_lose


def main() -> int:
    """Run the program; return the exit code of ``topoi.cli.main.main``."""
    with nothing_to_lose():
        from topoi.cli.main import main as run

        # Before ``fit`` installs its own handlers there is nothing to lose; other commands handle signals themselves.
        code = run() if "fit" in sys.argv[1:2] else None
    if code is None:
        code = run()
    if code > 128:
        # Threads of abandoned work may still run after a signal: do not wait for them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
