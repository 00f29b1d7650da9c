# SPDX-License-Identifier: Apache-2.0
"""Programs in the kernel that come and go while something is measured."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.sources import bpf_programs

from eitherway.closing import Closing
from eitherway.errors import Unavailable
from eitherway.worlds.processes.watching import Watching


class Programs(Closing):
    """Some in the kernel, that can come and go."""

    def __init__(self, programs: Sequence[str]) -> None:
        self._watching = Watching(programs)
        family, kind = socket.AF_UNIX, socket.SOCK_SEQPACKET
        self._socket = socket.fromfd(self._watching.fileno(), family, kind)

    def come(self, pid: int) -> None:
        """To look at this one, and at all that it makes."""
        handle = os.pidfd_open(pid)
        socket.send_fds(self._socket, [b"a"], [handle])
        os.close(handle)
        answer = self._socket.recv(512)
        if answer != b"y":
            raise Unavailable(answer.decode())

    def go(self) -> None:
        """They are gone when this returns."""
        self._socket.send(b"d")
        self._socket.send(b"?")
        _, maps, _, _ = socket.recv_fds(self._socket, 512, 3)
        for descriptor in maps:
            os.close(descriptor)

    @contextmanager
    def present(self) -> Iterator[None]:
        """In the kernel, looking at us."""
        self.come(os.getpid())
        try:
            yield
        finally:
            self.go()

    def close(self) -> None:
        """With their loader."""
        self._socket.close()
        self._watching.close()


def idle() -> Programs:
    """At the tracepoints of the recorder's, but they do nothing: what it takes to come to them."""
    return Programs([str(bpf_programs("idle"))])
