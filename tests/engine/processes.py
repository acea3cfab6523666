"""Other Python processes that see the same topoi as this one."""

import os
import subprocess
import sys
from pathlib import Path

import topoi

SOURCE = Path(topoi.__file__).parents[1]


def start_python(code, *arguments):
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
