# SPDX-License-Identifier: Apache-2.0
"""The programs in the kernel that see the calls of a tree, loaded once for many runs.

They cannot be loaded inside a sandbox. So a process outside keeps them, and a recorder inside asks
it through a socket for their ring, and to have its command looked at.
"""

import socket
import subprocess
from collections.abc import Sequence

from eitherway.closing import Closing
from eitherway.errors import Unavailable
from eitherway.installed import native

RECORDER = "bin/eitherway-recorder"
_LOADER = "bin/eitherway-loader"
PROGRAMS = ("lib/recorder.bpf.o", "lib/recorder-plain.bpf.o")  # the second for older kernels
_PATIENCE = 10  # seconds that the loader may take to end


class Watching(Closing):
    """One run at a time. Whether this machine can is told to the first recorder that asks."""

    def __init__(self, programs: Sequence[str] = PROGRAMS) -> None:
        """Of these files of programs, the first that this kernel takes."""
        try:
            words = [str(native(_LOADER)), "", *(str(native(name)) for name in programs)]
        except Unavailable as missing:
            raise Unavailable(
                "BPF cannot be used: no clang was there when this was built",
                fix="apt-get install clang and build again, or --recorder ptrace",
            ) from missing
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words[1] = str(theirs.fileno())
            self._loader = subprocess.Popen(words, pass_fds=[theirs.fileno()])

    def fileno(self) -> int:
        """The socket, for a recorder."""
        return self._ours.fileno()

    def close(self) -> None:
        """The programs are gone then."""
        self._ours.close()
        self._loader.wait(_PATIENCE)
