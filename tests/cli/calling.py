# SPDX-License-Identifier: Apache-2.0
"""The command as a user calls it, in a folder."""

import subprocess
import sys
from pathlib import Path


def eitherway(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """With nothing to read."""
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
