# SPDX-License-Identifier: Apache-2.0
"""Lines on standard error, and those that speak of an error, by their words."""

import re
from collections.abc import Iterator

_ERROR = re.compile(
    rb"\b(error|fatal|fail(ed|ure)?|panic|abort(ed)?|traceback|exception|segmentation fault|"
    rb"assertion|corrupt(ed)?|cannot|can't|could not|unable to|not found|no such file|denied|"
    rb"refused|would be empty)\b",
    re.IGNORECASE,
)
_LOG = re.compile(r"(^|/)(log|logs)/|\.(log|err)$")
_LONGEST = 120  # characters of a line that a person is shown
_NUMBER = re.compile(rb"(?<![\w.])(\d{2,}|\d+\.\d+)(?![\w.])")


def error_lines(data: bytes) -> Iterator[str]:
    """Those that speak of errors."""
    return lines_of(b"\n".join(line for line in data.splitlines() if _ERROR.search(line)))


def lines_of(data: bytes) -> Iterator[str]:
    """Each once; numbers, which may be of processes or of time, are left out."""
    found = (line.strip() for line in data.splitlines())
    for line in dict.fromkeys(_NUMBER.sub(b"#", line) for line in found if line):
        text = line.decode("utf-8", "backslashreplace")
        yield text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def is_log(path: str) -> bool:
    """Whether a file is one that daemons write what they have to say to."""
    return _LOG.search(path) is not None
