# SPDX-License-Identifier: Apache-2.0
"""What the user says that a run must do, beside not to fail: held against what branches wrote."""

import hashlib
import re
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from eitherway.errors import BadInput
from eitherway.find.ignored import Ignored
from eitherway.model.outcome import Outcome
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.captured import Captured, lines_of
from eitherway.worlds.threads.run import Ran

_TIME = 30.0  # seconds that a checker has
_LEFT = 1.0  # seconds for what it has said, when it is killed
_SHOWN = 120  # bytes of what it says

Start = Callable[..., subprocess.Popen[Any]]  # as subprocess.Popen, where a checker can look


@dataclass(frozen=True)
class Specification:
    """Of what is written to standard output; lines that match one of `ignored` are left out."""

    ignored: tuple[re.Pattern[bytes], ...] = ()
    expected: bytes | None = None
    checker: tuple[str, ...] = ()  # reads it; content when it ends with 0
    directory: str = "."
    environment: Mapping[str, str] | None = None

    def outcome(self, ran: Ran) -> Outcome:
        """What a run did, by this."""
        outcome = outcome_of(ran)
        environment = None if self.environment is None else dict(self.environment)
        start = partial(subprocess.Popen, cwd=self.directory, env=environment)
        complaints = self.complaints(ran.out, start)
        output, writers, lines = outcome.output, outcome.writers, outcome.lines
        if self.ignored:
            streams = {"standard output": ran.out, "standard error": ran.err}
            seen = {name: self._digest(stream) for name, stream in streams.items()}
            output = {**output, **seen}
            writers = seen  # of what is left it is not known who wrote it
            lines = {name: lines_of(self._seen(stream)) for name, stream in streams.items()}
        said = (*outcome.complaints, *complaints)
        return replace(outcome, output=output, writers=writers, lines=lines, complaints=said)

    def complaints(self, out: Captured, start: Start) -> tuple[str, ...]:
        """What is wrong with what was written; `start` runs the checker where it can look."""
        return tuple(filter(None, (self._expects(out), self._checks(out, start))))

    def kept(self, data: bytes) -> bytes:
        """Without what is to be ignored."""
        return self._ignored.without(data) if self.ignored else data

    @cached_property
    def _ignored(self) -> Ignored:
        return Ignored(self.ignored)

    def _digest(self, stream: Captured) -> str:
        return hashlib.sha256(self._seen(stream)).hexdigest()

    def _seen(self, stream: Captured) -> bytes:
        if len(stream.beginning) < stream.size:
            raise BadInput(
                f"only {len(stream.beginning):,} of {stream.size:,} bytes of output are kept: "
                "what is to be ignored or checked cannot be told of the rest"
            )
        return self.kept(stream.beginning)

    def _expects(self, stream: Captured) -> str:
        if self.expected is None:
            return ""
        seen, wanted = self._seen(stream), self.kept(self.expected)
        return "" if seen == wanted else "what is written is not what is expected"

    def _checks(self, stream: Captured, start: Start) -> str:
        if not self.checker:
            return ""
        try:
            running = start(
                self.checker,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            said, _ = _within_time(running, self._seen(stream))
        except OSError as problem:
            raise BadInput(f"the checker {self.checker[0]} did not run: {problem}") from None
        except subprocess.TimeoutExpired:
            raise BadInput(
                f"the checker {self.checker[0]} did not end within {_TIME:.0f} seconds"
            ) from None
        if running.returncode == 0:
            return ""
        words = said[:_SHOWN].decode(errors="replace").strip().replace("\n", " ")
        return f"the checker is not content: {words}" if words else "the checker is not content"


def _within_time(running: subprocess.Popen[bytes], given: bytes) -> tuple[bytes, bytes]:
    try:
        return running.communicate(given, timeout=_TIME)
    except subprocess.TimeoutExpired:
        _end(running)
        raise


def _end(running: subprocess.Popen[bytes]) -> None:
    """Whatever it has started: that may hold its output open for ever."""
    running.kill()
    with suppress(subprocess.TimeoutExpired):
        running.communicate(timeout=_LEFT)
    for stream in (running.stdin, running.stdout):
        if stream is not None:
            stream.close()


ANYTHING = Specification()
