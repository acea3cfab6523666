"""Where the ``topoi`` program begins: quick to be there, so that Ctrl-C is understood from the first moment on."""

from __future__ import annotations

import os
import sys

from topoi.cli.signals import nothing_to_lose


def main() -> int:
    """Run the program; the exit code is that of ``topoi.cli.main.main``."""
    with nothing_to_lose():
        from topoi.cli.main import main as run

        # Until a fit begins, and takes signals over, there is nothing to lose; other verbs have ends of their own.
        code = run() if "fit" in sys.argv[1:2] else None
    if code is None:
        code = run()
    if code > 128:
        # Work that a signal has made a fit abandon may still be going on in threads: do not wait for them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
