# SPDX-License-Identifier: Apache-2.0
"""The envelope of the control protocol: messages to bytes, and bytes that arrive to messages.

Spoken between Python and what runs in or beside the target; format/recording.toml says which
messages there are, and who raises the version and when.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from eitherway.errors import Exit, Problem, Unavailable
from eitherway.recording.layout import (
    CONTROL_ERROR,
    CONTROL_HEADER,
    CONTROL_MAGIC,
    CONTROL_VERSION,
    MAX_MESSAGE,
    MessageType,
)
from eitherway.recording.refusals import shown


class ProtocolError(Problem):
    """The other end does not keep to the protocol; it comes from us, so this is our bug."""

    exit_code = Exit.OUR_BUG


class OtherVersion(Unavailable):
    """The other end was built by an EitherWay whose protocol is another; that is nobody's bug."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `type` is a plain number: a world's messages are not all known here."""

    type: int
    payload: bytes = b""
    sequence: int = 0

    def to_bytes(self) -> bytes:
        """With its envelope."""
        if len(self.payload) > MAX_MESSAGE:
            raise ValueError(f"a message holds {MAX_MESSAGE} bytes, not {len(self.payload)}")
        head = (CONTROL_MAGIC, CONTROL_VERSION, self.type, self.sequence, len(self.payload))
        return CONTROL_HEADER.pack(*head) + self.payload

    def expected(self, kind: MessageType, size: int) -> bytes:
        """The payload, where nothing but this message can be right."""
        if self.type == MessageType.ERROR:
            raise ProtocolError(f"the other end cannot go on: {_reason(self.payload)}")
        if (self.type, len(self.payload)) != (kind, size):
            what = f"message {self.type} with {len(self.payload)} bytes"
            raise ProtocolError(f"{what} came where {kind.name} with {size} was due")
        return self.payload


def _reason(payload: bytes) -> str:
    """The text of an error message."""
    if len(payload) < CONTROL_ERROR.size:
        return "it gave no reason"
    return shown(payload[CONTROL_ERROR.size :].decode("utf-8", "replace"))


class Decoder:
    """Takes bytes as they arrive and gives whole messages."""

    def __init__(self) -> None:
        """Waits for the first message."""
        self._pending = bytearray()
        self._next = 0

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that these bytes complete."""
        self._pending += data
        while (length := self._length()) is not None:
            end = CONTROL_HEADER.size + length
            if len(self._pending) < end:
                return
            _, _, kind, sequence, _ = CONTROL_HEADER.unpack_from(self._pending)
            payload = bytes(self._pending[CONTROL_HEADER.size : end])
            del self._pending[:end]
            if sequence != self._next:
                raise ProtocolError(f"message {sequence} came where {self._next} was due")
            self._next += 1
            yield Message(kind, payload, sequence)

    def _length(self) -> int | None:
        """Of the payload to come, as soon as its envelope is there and good."""
        if len(self._pending) < CONTROL_HEADER.size:
            return None
        magic, version, _, _, length = CONTROL_HEADER.unpack_from(self._pending)
        if magic != CONTROL_MAGIC:
            raise ProtocolError(f"the other end does not speak our protocol: {magic.hex(' ')}")
        if version != CONTROL_VERSION:
            raise OtherVersion(
                f"the program was built for protocol version {version} of EitherWay's runtime, and "
                f"this installation speaks {CONTROL_VERSION}",
                fix="build the program again with `eitherway cc` of this installation",
            )
        if length > MAX_MESSAGE:
            raise ProtocolError(f"a message of {length} bytes; at most {MAX_MESSAGE} can be right")
        return int(length)
