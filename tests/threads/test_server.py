# SPDX-License-Identifier: Apache-2.0
"""The tool's end of the control socket, with programs at the other end that do not serve."""

import sys

import pytest

from eitherway.errors import Exit, Problem
from eitherway.recording.control import Message
from eitherway.recording.layout import (
    CONTROL_HEADER,
    CONTROL_HELLO,
    CONTROL_MAGIC,
    CONTROL_VERSION,
    MessageType,
)
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.server import Server

HELLO = Message(MessageType.HELLO, CONTROL_HELLO.pack(1, 1, 0)).to_bytes()
LATER = CONTROL_HEADER.pack(CONTROL_MAGIC, CONTROL_VERSION + 1, 1, 0, 0)

# Sends what it was given and waits until something comes.
PROGRAM = """
import os, re, socket, sys
number = int(re.search(r"server=(\\d+)", os.environ["EITHERWAY_OPTIONS"])[1])
end = socket.socket(fileno=number)
end.sendall(bytes.fromhex(sys.argv[1]))
if sys.argv[2:]:
    end.recv(1)
"""


def launch(sends: bytes, *more: str) -> Launch:
    return Launch.here([sys.executable, "-c", PROGRAM, sends.hex(), *more])


@pytest.mark.parametrize(
    ("sends", "code", "words"),
    [
        (b"", Exit.UNAVAILABLE, "ended before it answered"),
        (HELLO[:-1], Exit.UNAVAILABLE, "ended before it answered"),
        (LATER, Exit.UNAVAILABLE, "was built for protocol version"),
        (b"GET / HTTP/1.1\r\n\r\n", Exit.OUR_BUG, "does not speak our protocol"),
        (Message(MessageType.READY).to_bytes(), Exit.OUR_BUG, "came where HELLO with 16 was due"),
        (Message(MessageType.ERROR).to_bytes(), Exit.OUR_BUG, "it gave no reason"),
    ],
)
def test_a_program_that_does_not_greet(sends: bytes, code: Exit, words: str) -> None:
    with pytest.raises(Problem, match=words) as caught:
        Server(launch(sends))
    assert caught.value.exit_code == code


@pytest.mark.parametrize("more", [(), ("wait",)])
def test_a_program_that_ends_before_or_during_a_run(more: tuple[str, ...]) -> None:
    """Whether sending fails or receiving: no broken pipe, which a shell takes for success."""
    with (
        Server(launch(HELLO, *more)) as server,
        pytest.raises(Problem, match="the process that runs the program is gone"),
    ):
        server.run()
