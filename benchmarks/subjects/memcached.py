# SPDX-License-Identifier: Apache-2.0
"""memcached with four workers under a load over the loopback; libevent is the system's."""

import getpass
from pathlib import Path

from benchmarks.sources import BARE, Kit, built, configured, do, small_program, source
from benchmarks.subjects.subject import Job, Size

from eitherway.errors import Unavailable

_PAIRS = {Size.FULL: 300_000, Size.SECOND: 240_000, Size.PART: 10_000, Size.SMALL: 400}
_CONNECTIONS = {Size.FULL: 16, Size.SECOND: 16, Size.PART: 16, Size.SMALL: 4}


class Memcached:
    """Serves a fixed number of requests, checked by the load, and shuts down when told to."""

    name = "memcached"

    def build(self, kit: Kit) -> Path:
        """As its users do."""
        return built(self.name, kit, self._recipe)

    def _recipe(self, kit: Kit, folder: Path) -> Path:
        if not Path("/usr/include/event.h").exists():
            raise Unavailable("memcached needs libevent", fix="apt-get install libevent-dev")
        configured(source("memcached"), kit, folder, "--disable-docs", "--disable-coverage")
        do(["make", "-s", "-j2", "memcached"], folder)
        return folder / "memcached"

    def job(self, program: Path, size: Size, folder: Path) -> Job:
        """The load finds the port in a file."""
        port = folder / "port"
        command = (str(program), "-u", getpass.getuser(), "-l", "127.0.0.1", "-p", "-1", "-A")
        load = (
            str(small_program("memcached_load", BARE)),
            str(port),
            str(_PAIRS[size]),
            str(_CONNECTIONS[size]),
        )
        return Job(
            (*command, "-U", "0", "-t", "4", "-m", "256", "-c", "256"),
            folder,
            right=lambda out: out == b"",
            environment={"MEMCACHED_PORT_FILENAME": str(port)},
            load=load,
        )
