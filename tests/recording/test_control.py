# SPDX-License-Identifier: Apache-2.0
"""The control protocol's envelope."""

import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.errors import Exit
from eitherway.recording.control import Decoder, Error, Hello, Message, ProtocolError
from eitherway.recording.layout import CONTROL_HEADER, MAX_MESSAGE, MessageType


@given(
    payloads=st.lists(st.tuples(st.integers(1, 65535), st.binary(max_size=30)), max_size=6),
    cuts=st.lists(st.integers(1, 40), min_size=1, max_size=30),
)
def test_messages_survive_any_way_of_arriving(
    payloads: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    sent = [Message(kind, data, number) for number, (kind, data) in enumerate(payloads)]
    stream = b"".join(message.to_bytes() for message in sent)
    decoder = Decoder()
    received: list[Message] = []
    for cut in [*cuts, len(stream)]:
        received += decoder.feed(stream[:cut])
        stream = stream[cut:]
    assert received == sent
    assert not decoder.unfinished


def test_over_a_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(Hello(os.getpid(), 1, 5).message().to_bytes())
        (message,) = Decoder().feed(ours.recv(1000))
    assert Hello.of(message) == Hello(os.getpid(), 1, 5)


def test_an_error_carries_its_reason() -> None:
    error = Error(69, "no watchpoints: perf_event_paranoid is 4 — sysctl")
    assert Error.of(error.message()) == error


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "does not speak our protocol: 47 45 54 20"),
        (CONTROL_HEADER.pack(b"EWCP", 2, 1, 0, 0), "speaks protocol version 2, this one 1"),
        (CONTROL_HEADER.pack(b"EWCP", 1, 1, 3, 0), "message 3 came where 0 was due"),
        (CONTROL_HEADER.pack(b"EWCP", 1, 1, 0, MAX_MESSAGE + 1), "at most 1048576 can be right"),
    ],
)
def test_what_is_not_our_protocol_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as caught:
        list(Decoder().feed(data))
    assert caught.value.exit_code == Exit.OUR_BUG


@pytest.mark.parametrize("payload", [b"", b"123", bytes(17)])
def test_a_payload_of_the_wrong_length_is_refused(payload: bytes) -> None:
    with pytest.raises(ProtocolError):
        Hello.of(Message(MessageType.HELLO, payload))
    with pytest.raises(ProtocolError):
        Error.of(Message(MessageType.ERROR, payload))
    with pytest.raises(ProtocolError):
        Hello.of(Message(MessageType.READY, bytes(16)))


def test_a_message_that_breaks_off_is_unfinished() -> None:
    decoder = Decoder()
    assert list(decoder.feed(Hello(1, 1).message().to_bytes()[:-1])) == []
    assert decoder.unfinished


def test_a_message_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(ValueError, match="a message holds"):
        Message(300, bytes(MAX_MESSAGE + 1)).to_bytes()
