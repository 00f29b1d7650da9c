# SPDX-License-Identifier: Apache-2.0
"""The envelope of the control protocol: messages to bytes, and bytes that arrive to messages.

Spoken between Python and what runs in or beside the target; format/recording.toml says which
messages there are, and who raises the version and when.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from eitherway.errors import Exit, Problem
from eitherway.recording.layout import (
    CONTROL_ERROR,
    CONTROL_HEADER,
    CONTROL_HELLO,
    CONTROL_MAGIC,
    CONTROL_VERSION,
    MAX_MESSAGE,
    MessageType,
)


class ProtocolError(Problem):
    """The other end does not speak our protocol; it comes with us, so this is our bug."""

    exit_code = Exit.OUR_BUG


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


@dataclass(frozen=True, slots=True)
class Hello:
    """Who speaks: the first message of each end."""

    pid: int
    world: int
    features: int = 0

    def message(self) -> Message:
        """As it is sent."""
        payload = CONTROL_HELLO.pack(self.pid, self.world, self.features)
        return Message(MessageType.HELLO, payload)

    @classmethod
    def of(cls, message: Message) -> "Hello":
        """As it was received."""
        if message.type != MessageType.HELLO or len(message.payload) != CONTROL_HELLO.size:
            raise ProtocolError("the other end did not begin with a hello")
        return cls(*CONTROL_HELLO.unpack(message.payload))


@dataclass(frozen=True, slots=True)
class Error:
    """Why the sender cannot go on."""

    code: int
    text: str

    def message(self) -> Message:
        """As it is sent."""
        text = self.text.encode("utf-8", "replace")
        return Message(MessageType.ERROR, CONTROL_ERROR.pack(self.code, len(text)) + text)

    @classmethod
    def of(cls, message: Message) -> "Error":
        """As it was received."""
        size = CONTROL_ERROR.size
        if message.type != MessageType.ERROR or len(message.payload) < size:
            raise ProtocolError("the other end sent an error without its reason")
        code, length = CONTROL_ERROR.unpack_from(message.payload)
        if length != len(message.payload) - size:
            raise ProtocolError("the other end sent an error of the wrong length")
        return cls(code, message.payload[size:].decode("utf-8", "replace"))


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

    @property
    def unfinished(self) -> bool:
        """Whether the other end stopped in the middle of a message."""
        return bool(self._pending)

    def _length(self) -> int | None:
        """Of the payload to come, as soon as its envelope is there and good."""
        if len(self._pending) < CONTROL_HEADER.size:
            return None
        magic, version, _, _, length = CONTROL_HEADER.unpack_from(self._pending)
        if magic != CONTROL_MAGIC:
            raise ProtocolError(f"the other end does not speak our protocol: {magic.hex(' ')}")
        if version != CONTROL_VERSION:
            what = f"protocol version {version}, this one {CONTROL_VERSION}"
            raise ProtocolError(f"the other end speaks {what}: not the same installation")
        if length > MAX_MESSAGE:
            raise ProtocolError(f"a message of {length} bytes; at most {MAX_MESSAGE} can be right")
        return int(length)
