# SPDX-License-Identifier: Apache-2.0
"""Compiles a program for our runtime: the compiler's own instrumentation, linked against us."""

import os
import shutil
import subprocess
from pathlib import Path

from eitherway.errors import BadInput, Unavailable
from eitherway.installed import native

# No tail calls: a frame that is gone could not be named.
COMPILE = ("-fsanitize=thread", "-fno-optimize-sibling-calls")


def link_flags() -> list[str]:
    """What goes behind the objects. Exported, so that libraries call us and not libc."""
    runtime = native("lib/libeitherway_rt.a")
    return [
        "-Wl,--whole-archive",
        str(runtime),
        "-Wl,--no-whole-archive",
        "-Wl,--export-dynamic",
        "-pthread",
        "-ldl",
    ]


def compiler() -> str:
    """The C compiler: $CC, or what the machine has."""
    for name in (os.environ.get("CC", ""), "gcc", "clang", "cc"):
        if name and (program := shutil.which(name)):
            return program
    raise Unavailable(
        "building for the threads world needs gcc or clang", fix="apt-get install gcc"
    )


def build(source: Path, program: Path) -> None:
    """Compile and link one C file."""
    objects = program.with_suffix(".o")
    cc = compiler()
    _run([cc, "-g", "-O1", *COMPILE, "-c", str(source), "-o", str(objects)])
    _run([cc, str(objects), "-o", str(program), *link_flags()])


def _run(command: list[str]) -> None:
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise BadInput(f"{' '.join(command[:1])} failed:\n{run.stderr.strip()}")
