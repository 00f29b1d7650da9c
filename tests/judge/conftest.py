# SPDX-License-Identifier: Apache-2.0
"""The program of this folder, built once for each worker."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "programs" / "consequences.c"


@pytest.fixture(scope="session")
def consequences(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its path; not optimised, or a loop that waits for a plain variable would look once."""
    program = tmp_path_factory.mktemp("judge") / SOURCE.stem
    command = [sys.executable, "-m", "eitherway", "cc", "-g", str(SOURCE), "-o", str(program)]
    subprocess.run(command, check=True)
    return str(program)
