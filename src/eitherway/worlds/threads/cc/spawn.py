# SPDX-License-Identifier: Apache-2.0
"""Starts programs and waits for them, without the import of subprocess."""

import os
import signal
from collections.abc import Sequence
from typing import NoReturn, Self

from eitherway.errors import Unavailable

_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class Child:
    """A program that runs; with `capture`, what it writes to standard output is kept."""

    def __init__(self, words: Sequence[str], *, capture: bool = False) -> None:
        self._pipe = -1
        actions: list[tuple[int, int, int]] = []
        if capture:
            self._pipe, theirs = os.pipe()  # both close on exec; the copy made below does not
            actions = [(os.POSIX_SPAWN_DUP2, theirs, 1)]
        # Held back until `finish` can hand it on: between the two, nobody would end the child.
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            self._pid = os.posix_spawnp(
                words[0], list(words), os.environ, file_actions=actions, setsigmask=self._mask
            )
        except OSError as problem:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            if capture:
                os.close(self._pipe)
            raise Unavailable(f"{words[0]} cannot be started: {problem.strerror}") from problem
        finally:
            if capture:
                os.close(theirs)

    def finish(self) -> tuple[int, bytes]:
        """Wait; the exit status as a shell tells it, and what was captured."""
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            text = self._read()
            status = os.waitpid(self._pid, 0)[1]
        except BaseException:  # we are told to end: so is it
            os.kill(self._pid, signal.SIGTERM)
            os.waitpid(self._pid, 0)
            raise
        code = os.waitstatus_to_exitcode(status)
        return (code if code >= 0 else 128 - code), text

    def _read(self) -> bytes:
        if self._pipe < 0:
            return b""
        with open(self._pipe, "rb") as pipe:
            return pipe.read()


def become(words: Sequence[str]) -> NoReturn:
    """Go on as another program."""
    try:
        os.execvp(words[0], list(words))  # no shell on purpose
    except OSError as problem:
        raise Unavailable(f"{words[0]} cannot be started: {problem.strerror}") from problem


class TemporaryFolder:
    """A folder of flat files, gone at the end."""

    def __init__(self) -> None:
        base = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 # made exclusively, below
        self.path = os.path.join(base, f"eitherway-{os.getpid()}-{os.urandom(6).hex()}")

    def __enter__(self) -> Self:
        try:
            os.mkdir(self.path, 0o700)
        except OSError as problem:
            raise Unavailable(
                f"no temporary files in {os.path.dirname(self.path)}: {problem.strerror}",
                fix="set TMPDIR to a directory with room",
            ) from problem
        return self

    def __exit__(self, *_: object) -> None:
        for entry in os.scandir(self.path):
            os.unlink(entry.path)
        os.rmdir(self.path)

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.path, name)
