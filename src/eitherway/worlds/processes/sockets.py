# SPDX-License-Identifier: Apache-2.0
"""Which socket a socket talks to: what is written to the one is read from the other.

A listener hands out connections in the order in which they came: the first accept on an address has
the first connect to it. What is connected to the outside has no other end here.
"""

import socket
import struct
from collections import defaultdict, deque
from collections.abc import Hashable
from typing import NamedTuple

from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.log import NO_POSITION, Log

_EINPROGRESS = -115
_SENDS = ("sendto", "sendmsg", "sendmmsg")
_WHOLE = (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)
_TYPE = 0xF  # of a socket, without SOCK_CLOEXEC and SOCK_NONBLOCK
_PORT = struct.Struct("!H")


class Address(NamedTuple):
    """Where sockets find each other: a port, a name of the file system, or one of the kernel's."""

    sort: str
    place: int | bytes

    def __str__(self) -> str:
        """For people."""
        if isinstance(self.place, int):
            return f"{self.sort} {self.place}"
        name = self.place.decode(errors="backslashreplace")
        return name if self.place[:1] != b"\0" else f"@{name[1:]}"


class Sockets:
    """Of one run, call after call."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._peer: dict[int, int] = {}
        self._bound: dict[int, Hashable] = {}  # listener to address
        self._datagrams: set[int] = set()  # sockets of these
        self._whole: set[int] = set()  # sockets at which nothing is read in parts
        self._to: dict[int, Hashable] = {}  # where those send that are connected
        self._at: dict[Hashable, int] = {}  # datagrams that are sent there come to this socket
        self._came: dict[Hashable, deque[int]] = defaultdict(deque)  # sockets not accepted yet

    def follow(self, call: Call) -> None:
        """Learn from a call that is over."""
        if call.name == "socketpair" and call.worked:
            self._join(call.object, call.second)
            if call.arguments[1] & _TYPE in _WHOLE:
                self._whole |= {call.object, call.second}
        elif call.name == "socket" and call.worked:
            if call.arguments[1] & _TYPE == socket.SOCK_DGRAM:
                self._datagrams.add(call.second)
            if call.arguments[1] & _TYPE in _WHOLE:
                self._whole.add(call.second)
        elif call.name == "bind" and call.worked:
            self._bound[call.object] = self._address(call)
            if call.object in self._datagrams:
                self._at[self._address(call)] = call.object
        elif call.name == "connect" and call.worked and call.object in self._datagrams:
            self._to[call.object] = self._address(call)
        elif call.name == "connect" and (call.worked or call.result == _EINPROGRESS):
            self._came[self._address(call)].append(call.object)
        elif call.name in ("accept", "accept4") and call.worked:
            came = self._came[self._bound.get(call.object)]
            if call.object in self._whole:
                self._whole.add(call.second)
            if came:
                self._join(came.popleft(), call.second)

    def amount(self, call: Call, object_: int) -> int:
        """Bytes that a call gives or takes; of what is read as it was written, how many such."""
        several = call.name in ("sendmmsg", "recvmmsg")
        if object_ in self._whole:
            return call.result if several else 1
        known = several and call.position not in (0, NO_POSITION)
        return call.position if known else call.result

    def receiver(self, call: Call) -> int:
        """The socket that a datagram comes to; 0 when there is none, or it is not known."""
        return self._at.get(self._destination(call), 0)

    def _destination(self, call: Call) -> Hashable:
        return self._address(call) if call.value else self._to.get(call.object)

    def other_end(self, object_: int) -> int:
        """The socket that what is written to this one comes out of; 0 when it is not known."""
        return self._peer.get(object_, 0)

    def listener(self, call: Call) -> Hashable:
        """What an accept waits at, or a connect comes to."""
        if call.name == "connect":
            return self._address(call)
        return self._bound.get(call.object, call.object)

    def bound(self, object_: int) -> Hashable | None:
        """The address of a socket that listens."""
        return self._bound.get(object_)

    def address(self, call: Call) -> Address | None:
        """The one that a call is about, if others can be about it too."""
        if call.name in _SENDS:
            found = self._destination(call) if call.object in self._datagrams else None
        elif call.name == "listen":
            found = self._bound.get(call.object)
        else:
            found = self._address(call)
        return found if isinstance(found, Address) and found.place else None

    def given_back(self, object_: int) -> Address | None:
        """The one of a socket that nobody has any more."""
        found = self._bound.pop(object_, None)
        if self._at.get(found) == object_:
            del self._at[found]
        self._datagrams.discard(object_)
        self._whole.discard(object_)
        self._to.pop(object_, None)
        return found if isinstance(found, Address) and found.place else None

    def _join(self, one: int, other: int) -> None:
        self._peer[one], self._peer[other] = other, one

    def _address(self, call: Call) -> Hashable:
        """Of an internet socket the port: one may listen on all addresses."""
        data = self._log.texts[call.value] if call.value < len(self._log.texts) else b""
        family = int.from_bytes(data[:2], "little")
        if family in (socket.AF_INET, socket.AF_INET6) and len(data) >= 4:
            return Address("port", _PORT.unpack(data[2:4])[0])
        name = data[2:].rstrip(b"\0") or data[2:]
        return Address("name", name) if family == socket.AF_UNIX else (family, name)
