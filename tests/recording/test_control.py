# SPDX-License-Identifier: Apache-2.0
"""The control protocol's envelope."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.errors import Exit
from eitherway.recording.control import Decoder, Message, OtherVersion, ProtocolError
from eitherway.recording.layout import (
    CONTROL_ERROR,
    CONTROL_HEADER,
    CONTROL_VERSION,
    MAX_MESSAGE,
    MessageType,
)


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


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "does not speak our protocol: 47 45 54 20"),
        (CONTROL_HEADER.pack(b"EWCP", CONTROL_VERSION, 1, 3, 0), "message 3 came where 0 was due"),
        (
            CONTROL_HEADER.pack(b"EWCP", CONTROL_VERSION, 1, 0, MAX_MESSAGE + 1),
            "at most 1048576 can be right",
        ),
    ],
)
def test_what_is_not_our_protocol_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as caught:
        list(Decoder().feed(data))
    assert caught.value.exit_code == Exit.OUR_BUG


def test_another_version_is_no_bug_of_ours() -> None:
    later = CONTROL_HEADER.pack(b"EWCP", CONTROL_VERSION + 1, 1, 0, 0)
    with pytest.raises(
        OtherVersion, match=f"version {CONTROL_VERSION + 1} .* speaks {CONTROL_VERSION}"
    ) as caught:
        list(Decoder().feed(later))
    assert caught.value.exit_code == Exit.UNAVAILABLE
    assert "build the program again" in caught.value.fix


def test_only_what_is_due_is_taken() -> None:
    ended = Message(MessageType.ENDED, bytes(32))
    assert ended.expected(MessageType.ENDED, 32) == bytes(32)
    with pytest.raises(ProtocolError, match="message 258 with 32 bytes came where STARTED with 8"):
        ended.expected(MessageType.STARTED, 8)
    with pytest.raises(ProtocolError, match="came where ENDED with 31 was due"):
        ended.expected(MessageType.ENDED, 31)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (CONTROL_ERROR.pack(69, 9) + b"no memory", "no memory"),
        (CONTROL_ERROR.pack(69, 5) + b"\x1b[31\xff", r"\\x1b\[31\\ufffd"),
        (b"short", "it gave no reason"),
    ],
)
def test_an_error_carries_its_reason(payload: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError, match=f"the other end cannot go on: {reason}$"):
        Message(MessageType.ERROR, payload).expected(MessageType.ENDED, 32)


def test_a_message_that_breaks_off_is_none() -> None:
    assert list(Decoder().feed(Message(1, b"12").to_bytes()[:-1])) == []


def test_a_message_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(ValueError, match="a message holds"):
        Message(300, bytes(MAX_MESSAGE + 1)).to_bytes()
