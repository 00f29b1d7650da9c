# SPDX-License-Identifier: Apache-2.0
"""What `eitherway report` reads: documents of findings and logs, told apart by how they begin."""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from io import BufferedReader

from eitherway.errors import Problem
from eitherway.findings.document import load_from, name_of, opened
from eitherway.logs.reading import Log
from eitherway.model.finding import Finding

_DOCUMENT = re.compile(rb'\s*\{\s*(?:\}|"(?:format|tool|findings|summary)"\s*:)')


class Inputs:
    """Files that the user named. What cannot be read of one does not cost the others."""

    def __init__(self, names: Iterable[str], *, allow_clean: bool = False) -> None:
        self._names = names
        self._allow_clean = allow_clean
        self._notes: dict[str, None] = {}
        self.problems: list[Problem] = []  # known when all findings were taken
        self.empty = True  # until there is one

    def findings(self) -> Iterator[Finding]:
        """One after the other, as they are read."""
        for name in self._names:
            try:
                with opened(name) as stream:
                    for finding in self._of(stream, name):
                        self.empty = False
                        yield finding
            except Problem as problem:
                self.problems.append(problem)

    def check(self) -> None:
        """When nothing but problems came of them, the first of these is all there is to tell."""
        if self.empty and self.problems:
            raise self.problems[0]

    @property
    def notes(self) -> list[str]:
        """Of all of them, each once; known when all findings were taken."""
        return list(self._notes)

    def _of(self, stream: BufferedReader, name: str) -> Iterator[Finding]:
        head = stream.peek()
        if _DOCUMENT.match(head):
            document = load_from(stream, name)
            self._notes.update(dict.fromkeys(document.summary.notes))
            yield from document.findings
            return
        log = Log(stream, name_of(name), head=head, when=_time_of(stream))
        yield from log.findings()
        self._notes.update(dict.fromkeys(log.notes))
        if log.problem is not None and not self._allow_clean:
            self.problems.append(log.problem)


def _time_of(stream: BufferedReader) -> str:
    """When a log was last written to: that is when its reports were seen; of a pipe, now."""
    status = os.fstat(stream.fileno())
    seconds = status.st_mtime if status.st_size else datetime.now(UTC).timestamp()
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
