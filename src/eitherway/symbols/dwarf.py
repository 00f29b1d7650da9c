# SPDX-License-Identifier: Apache-2.0
"""What llvm-dwarfdump says of one place of a file's debug information, and nothing if it cannot."""

import shutil
import subprocess
from collections.abc import Sequence

_PATIENCE = 20.0  # seconds: names are worth so much of a large program


def dwarfdump(module: str, *options: str) -> str:
    """Its answer; where it is not installed, nothing."""
    return output_of(["llvm-dwarfdump", *options, module])


def output_of(command: Sequence[str]) -> str:
    """What a tool wrote; empty when it is not there, fails or takes too long."""
    if shutil.which(command[0]) is None:
        return ""
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return ""
    return run.stdout.decode(errors="replace") if run.returncode == 0 else ""
