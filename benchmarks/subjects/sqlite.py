# SPDX-License-Identifier: Apache-2.0
"""SQLite with four threads: connections on one file in WAL mode, and on one cache in memory."""

import shutil
from pathlib import Path

from benchmarks.sources import BARE, PROGRAMS, Kit, built, compiled, do, linked, need, source
from benchmarks.subjects.subject import Job, Size

_DRIVER = PROGRAMS / "sqlite_threads.c"
_ROUNDS = {Size.FULL: 20_000, Size.SECOND: 10_000, Size.PART: 400, Size.SMALL: 3}


class Sqlite:
    """Its threads write and read, and the sums at the end do not depend on their order."""

    name = "sqlite"

    def build(self, kit: Kit) -> Path:
        """The amalgamation, and a program of ours."""
        return built(self.name, kit, self._recipe, _DRIVER)

    def _recipe(self, kit: Kit, folder: Path) -> Path:
        amalgamation = built("sqlite3.c", BARE, _amalgamation).parent
        files = [amalgamation / "sqlite3.c", _DRIVER]
        shutil.copy(amalgamation / "program", files[0])
        options = ("-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{amalgamation}")
        compiled(kit, files, folder, *options)
        return linked(kit.cc, folder / "sqlite_threads", "-lm")

    def job(self, program: Path, size: Size, folder: Path) -> Job:
        """So many transactions of each thread."""
        rounds = _ROUNDS[size]
        wanted = f"file {4 * rounds} {4 * rounds} ok\nmemory {4 * rounds} {4 * rounds} ok\n"
        command = (str(program), str(folder / "file.db"), str(rounds))
        return Job(command, folder, right=lambda out: out == wanted.encode())


def _amalgamation(_: Kit, folder: Path) -> Path:
    """All of SQLite in one file, as its own scripts make it."""
    need("tclsh", "tcl")
    do([str(source("sqlite3") / "configure"), "--quiet", "--disable-tcl"], folder)
    do(["make", "-s", "sqlite3.c"], folder)
    return folder / "sqlite3.c"
