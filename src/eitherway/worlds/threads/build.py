# SPDX-License-Identifier: Apache-2.0
"""Compiles a program for our runtime from Python, for those who do not call `eitherway cc`."""

import subprocess
import sys
from pathlib import Path

from eitherway.errors import BadInput
from eitherway.worlds.threads.cc.compiler import CODE as COMPILE
from eitherway.worlds.threads.cc.link import parts

__all__ = ["COMPILE", "build", "link_flags"]


def link_flags() -> list[str]:
    """What a link by hand adds to the objects. Such a binary's note says "not measured"."""
    files = parts()
    return [
        files.runtime,
        files.note,
        f"-Wl,--dynamic-list={files.exported}",
        "-pthread",
        "-ldl",
    ]


def build(source: Path, program: Path) -> None:
    """Compile and link one C file, as a user would."""
    command = [sys.executable, "-m", "eitherway", "cc", "-g", "-O1"]
    command += [str(source), "-o", str(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise BadInput(f"{source} does not compile:\n{run.stderr.strip()}")
