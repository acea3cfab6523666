"""``python -m topoi``: the ``topoi`` program where its script is not on the search path."""

import sys

from topoi.cli.start import main

if __name__ == "__main__":
    sys.exit(main())
