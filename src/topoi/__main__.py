"""``python -m topoi``: the command line."""

import sys

from topoi.cli.start import main

sys.exit(main())
