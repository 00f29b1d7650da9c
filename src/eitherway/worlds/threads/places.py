# SPDX-License-Identifier: Apache-2.0
"""Shared places: where in the code plain accesses were seen to race.

Every access there is a decision point of the runs that are given the set. It belongs to one build
of a program, and a seed names a schedule only together with it.
"""

import base64
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from eitherway.model.words import OpFlag, OpKind
from eitherway.worlds.threads.events import Events, Module

_WORD = (1 << 64) - 1
BITS = 36  # of a place: so a token can hold some
_LETTERS = BITS // 6


@dataclass(frozen=True, slots=True)
class Places:
    """A set of places; each is a number that the runtime makes, the same wherever files lie."""

    numbers: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.numbers)

    def __or__(self, other: "Places") -> "Places":
        return Places(self.numbers | other.numbers)

    @property
    def name(self) -> str:
        """What a token says of the set: all of it, six letters for each place."""
        bits = sum(
            number << BITS * at for at, number in enumerate(sorted(self.numbers, reverse=True))
        )
        size = -(-len(self.numbers) * BITS // 24) * 3  # bytes, so that no letter is a filler
        text = base64.urlsafe_b64encode(bits.to_bytes(size, "big")).decode()
        return text[len(text) - len(self.numbers) * _LETTERS :]

    @classmethod
    def named(cls, name: str) -> "Places":
        """The set of that name. Raises ValueError when it is none."""
        if len(name) % _LETTERS:
            raise ValueError("a place has six letters")
        data = base64.b64decode(name.rjust(-(-len(name) // 4) * 4, "A"), b"-_", validate=True)
        bits, count = int.from_bytes(data, "big"), len(name) // _LETTERS
        found = cls.of(bits >> BITS * at & (1 << BITS) - 1 for at in range(count))
        if found.name != name:
            raise ValueError("places are in order, and each is there once")
        return found

    @classmethod
    def of(cls, numbers: Iterable[int]) -> "Places":
        """Of what the runtime told or a file holds."""
        return cls(frozenset(int(number) for number in numbers))


NOWHERE = Places()


def place(file: str, offset: int) -> int:
    """The number of a return address in an ELF file, as native/runtime/places.c has it.

    `file` is the name of a library without its directory, and empty for the program itself.
    """
    name = 0xCBF29CE484222325  # FNV-1a
    for byte in file.encode("utf-8", "surrogateescape"):
        name = (name ^ byte) * 0x100000001B3 & _WORD
    return _mix((name + _mix(offset)) & _WORD) & (1 << BITS) - 4096 | offset & 4095


def _mix(word: int) -> int:  # splitmix64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return word ^ word >> 31


def places_of(run: Events, events: Iterable[int]) -> Places:
    """Where plain accesses of a traced run are, by the number of their events."""
    plain = [
        int(number)
        for number in events
        if OpKind(run.events["op"][number]) in (OpKind.LOAD, OpKind.STORE)
        and not run.events["flags"][number] & OpFlag.ATOMIC
    ]
    pcs = run.names.sites["pc"][run.events["site"][plain]].tolist()
    return Places.of(place for pc in set(pcs) for place in _place_in(run.names.modules, int(pc)))


def _place_in(modules: Sequence[Module], pc: int) -> Iterator[int]:
    """The program is the first module."""
    for number, module in enumerate(modules):
        if module.lo <= pc < module.hi:
            name = os.path.basename(module.path) if number else ""
            yield place(name, pc - module.base)
