"""Begins to note calls in every Python process below one whose environment says where notes go."""

import os

if os.environ.get("TOPOI_CALLS"):
    import sys

    sys.path.append(os.environ["TOPOI_CALLS_ROOT"])
    from studies import calls

    calls.begin(os.environ["TOPOI_CALLS"])
