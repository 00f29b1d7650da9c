# SPDX-License-Identifier: Apache-2.0
"""A sandbox that stays: commands go in one after the other or together, changes are looked at."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from eitherway.closing import Closing
from eitherway.errors import Unavailable, UsageError
from eitherway.installed import native
from eitherway.sandbox.changes import Change, changes, nobody_asked
from eitherway.sandbox.contents import SHORT, contents
from eitherway.sandbox.isolation import ALL, Isolation, Kind, Limits, Report, parse
from eitherway.sandbox.kept import Kept
from eitherway.sandbox.layers import Layer, Layers, What
from eitherway.sandbox.processes import children, has_ended

_PROGRAM = "bin/eitherway-sandbox"
_REPORT_SIZE = 4096
_DESCRIPTORS = 8
_NO_LIMITS = Limits()


class Sandbox(Closing):
    """Namespaces and layers of their own, for as many commands as wanted.

    `require`d kinds of isolation that this machine refuses raise Unavailable; what is in force for
    the others is in `isolation`. What is to be done `without` is not tried. `devices` are paths in
    /dev to have inside too. `work` are directories the commands will write in: where only the
    caller's own ids can be mapped, those that lie in directories of other owners must be named,
    unless they are the current directory, HOME or TMPDIR. `unlimited` says why a limit of processes
    that was wanted is not asked for.
    """

    def __init__(
        self,
        *,
        limits: Limits = _NO_LIMITS,
        require: Iterable[Kind] = ALL,
        without: Iterable[Kind] = (),
        devices: Sequence[str] = (),
        work: Sequence[str] = (),
        unlimited: str = "",
    ) -> None:
        self._unlimited = unlimited
        self.without = frozenset(without)
        self._program = str(native(_PROGRAM))
        self._limits = limits.options()
        options = [*self._limits]
        options += [word for kind in sorted(require) for word in ("--require", kind.value)]
        options += [word for kind in sorted(self.without) for word in ("--without", kind.value)]
        options += [word for device in devices for word in ("--device", device)]
        options += [word for directory in work for word in ("--work", directory)]
        self._layers: Layers | None = None
        self._namespaces: list[int] = []
        self._registry: list[int] = []
        self._commands: dict[int, subprocess.Popen[Any]] = {}  # by their processes' numbers
        self._control, self._keeper = _start_keeper([self._program, *options])
        try:
            self._report = self._receive()
        except BaseException:
            self.close()
            raise

    @property
    def isolation(self) -> Isolation:
        """What is in force."""
        return replace(self._report.isolation, unlimited=self._unlimited)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What became of which directory; the ones that could only be shown are among them."""
        return tuple(self._layers.list) if self._layers else ()

    @property
    def read_only(self) -> tuple[str, ...]:
        """Places inside that cannot be written, though perhaps they can outside."""
        return tuple(layer.path for layer in self.layers if layer.what is What.READ_ONLY)

    def popen(
        self, command: Sequence[str | os.PathLike[str]], **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a command inside; takes what subprocess.Popen takes, descriptors included.

        Directories among those are opened anew inside, but for `as_is`: what is written through
        that one is written outside.

        The process is a door that stands outside: it ends as the command ends, signals sent to it
        reach the command, and killing it kills the command (what that has left stays until reset).
        """
        if options.get("shell") or not options.get("close_fds", True):
            raise UsageError("a command in a sandbox is a list, and gets its descriptors by name")
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as started:
            try:
                door = self._open_door(command, writing, options)
            finally:
                os.close(writing)
            # Nothing comes from a door that could not enter; its own words and status tell why.
            text = started.read()
        self._commands = {pid: door for pid, door in self._commands.items() if door.poll() is None}
        if text:
            self._commands[int(text)] = door
        return door

    def _open_door(
        self, command: Sequence[str | os.PathLike[str]], started: int, options: dict[str, Any]
    ) -> subprocess.Popen[Any]:
        passed = [*options.pop("pass_fds", ()), started, *self._registry, *self._namespaces]
        as_is = options.pop("as_is", None)
        words: list[str | os.PathLike[str]] = [self._program, *self._limits]
        words += ["--enter", ",".join(map(str, self._namespaces)), "--started", str(started)]
        words += [word for number in self._registry for word in ("--registry", str(number))]
        words += [] if as_is is None else ["--as-is", str(as_is)]
        return subprocess.Popen([*words, "--", *command], pass_fds=passed, **options)

    def process_of(self, door: subprocess.Popen[Any]) -> int:
        """The command behind a door, by its number outside; 0 when there is none any more."""
        if door.poll() is not None:
            return 0  # by now the number may be somebody else's
        return next((pid for pid, known in self._commands.items() if known is door), 0)

    def dirty(self) -> bool:
        """Whether anything is left that the start did not have: something written, a process.

        Commands that popen started and that still run do not count, nor do their children. True may
        come for what is as before again; False is certain. Shared memory and queues that have no
        files, and what the network remembers of closed connections, are not looked at.
        """
        return bool(self._layers and self._layers.dirty()) or bool(self.strays())

    def strays(self) -> tuple[int, ...]:
        """Processes whose parents ended before them, by their numbers outside."""
        inside = children(self._report.init)
        return tuple(pid for pid in inside if not self._is_known(pid) and not has_ended(pid))

    def _is_known(self, process: int) -> bool:
        door = self._commands.get(process)
        return door is not None and door.poll() is None

    def changes(self) -> list[Change]:
        """Files that are not as they are outside now; empty where files are not isolated."""
        return changes(self._layers) if self._layers else []

    def contents(
        self, short: int = SHORT, between: Callable[[], object] = nobody_asked
    ) -> dict[str, str]:
        """What those files hold, by path: as texts that are equal when the files are.

        Up to `short` bytes of text are told as they are. `between` them something may be done.
        """
        if not self._layers:
            return {}
        return contents(self._layers, changes(self._layers, between), short, between)

    def written(self) -> int:
        """Bytes of memory that its files take; files that are not isolated take none."""
        return self._layers.size() if self._layers else 0

    @property
    def keeps(self) -> bool:
        """Whether what is written can be kept at all: it is apart from what is outside."""
        return self._layers is not None

    def keep(self, process: int) -> Kept | None:
        """What is written now, to be put back later; None: that cannot be done.

        It can as long as the process lives, which is one inside by its number outside.
        """
        try:
            return Kept(self._layers, f"/proc/{process}/root") if self._layers else None
        except OSError:
            return None

    def reset(self) -> None:
        """End every process inside and start anew, with nothing written."""
        self._drop()
        try:
            self._control.send(b"reset")
        except OSError as gone:
            raise Unavailable("the sandbox was ended from outside") from gone
        self._report = self._receive()

    def close(self) -> None:
        """End everything inside and forget what was written."""
        self._drop()
        self._control.close()
        self._keeper.wait()
        self._reap_doors()

    def _receive(self) -> Report:
        try:
            line, descriptors, _, _ = socket.recv_fds(self._control, _REPORT_SIZE, _DESCRIPTORS)
        except ConnectionResetError:
            line, descriptors = b"", []
        if not line:
            raise Unavailable("the sandbox was ended from outside")
        try:
            report = parse(line)
            self._registry = [descriptors.pop(0)]
            if report.scratch:
                self._layers = Layers(descriptors.pop(0))
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        self._namespaces = descriptors
        return report

    def _drop(self) -> None:
        if self._layers:
            self._layers.close()
            self._layers = None
        for descriptor in (*self._registry, *self._namespaces):
            os.close(descriptor)
        self._registry, self._namespaces = [], []

    def _reap_doors(self) -> None:
        # Where there is no pid namespace, ending the sandbox does not end what is inside.
        for door in self._commands.values():
            door.kill()
            door.wait()
        self._commands = {}


def _start_keeper(words: list[str]) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        number = theirs.fileno()
        keeper = subprocess.Popen(
            [*words, "--control", str(number)],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # what it has to say comes in its report
        )
    return ours, keeper
