# SPDX-License-Identifier: Apache-2.0
"""What a thread holds in registers and on its stack where its region ends, and in what two differ.

A region ends with a call of the runtime. Of registers a call keeps some, and what else the program
needs behind it is on its stack; what it gives to the call is told with the event, or is not known.
So is what a thread holds that does so: then what it has loaded has to stand for it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

import numpy as np

from eitherway.model.words import OpFlag, OpKind
from eitherway.symbols.later_reads import KEPT, Bytes, called_before, may_read
from eitherway.symbols.unwinding import RBP, Rules, Stack, Unwound, rules_at, unwound
from eitherway.worlds.threads.block_names import BlockNames
from eitherway.worlds.threads.events import Events, Module, Registers
from eitherway.worlds.threads.left_memory import WORD, is_of_others

# Functions whose arguments are the objects that their events tell of, or what they store.
_TOLD = re.compile(
    r"(?:__)?(?:"
    r"pthread_(?:mutex|spin)_(?:lock|trylock|unlock)"
    r"|pthread_rwlock_(?:rdlock|wrlock|tryrdlock|trywrlock|unlock)"
    r"|pthread_cond_(?:wait|signal|broadcast)|pthread_barrier_wait"
    r"|sem_(?:wait|trywait|post)|mtx_(?:lock|trylock|unlock)|cnd_(?:wait|signal|broadcast)"
    r"|tsan_atomic\d+_(?:load|store|exchange)|tsan_atomic_thread_fence)"
)
_STORED = (OpKind.STORE, OpKind.UPDATE)

Range = tuple[int, int]  # addresses [low, high)


@dataclass(frozen=True, slots=True)
class Held:
    """By one thread at the event that ends its region."""

    thread: int
    op: int
    about: tuple[object, ...]  # what the event tells; of a thread that is over, what it returns
    frames: tuple[Unwound, ...]  # the outermost first; none when it is over
    stack: Stack
    values: "Values"


@dataclass(frozen=True, slots=True)
class Values:
    """Of a branch at an event: addresses of blocks that came behind the cut by their names."""

    named: BlockNames
    event: int
    modules: Sequence[Module]

    def may_lead_to_block(self, value: int) -> bool:
        """To one that came behind the cut: in the other order that may be another one."""
        low, high = self.named.span
        return low <= value < high

    def meant(self, value: int) -> object:
        """What is the same in both orders when it means the same."""
        if not self.may_lead_to_block(value):
            return value
        at = np.array([value], dtype=np.uint64), np.array([self.event])
        block = int(self.named.blocks.find(*at)[0])
        if block not in self.named.of:
            return value
        return self.named.of[block], value - self.named.blocks[block].start


def held_at(events: Events, named: BlockNames, number: int) -> Held | None:
    """At the event of that number; None: it is not known."""
    taken = events.names.registers.get(number)
    if taken is None:
        return None
    row = events.events[number]
    thread, op = int(row["thread"]), OpKind(int(row["op"]))
    values = Values(named, number, events.names.modules)
    stack = Stack(taken.stack, taken.bytes)
    if op is OpKind.END:
        return Held(thread, op, (values.meant(taken.result),), (), stack, values)
    frames = _frames(taken, stack, events.names.modules, int(_pc(events, row["site"])))
    if frames is None:
        return None
    stored = events.values[number] if events.values is not None and op in _STORED else 0
    atomic = int(row["flags"]) & OpFlag.ATOMIC
    about = values.meant(int(row["address"])), int(row["size"]), values.meant(int(stored)), atomic
    return Held(thread, op, about, frames, stack, values)


def _pc(events: Events, site: int) -> int:
    return int(events.names.sites["pc"][site])


def _frames(
    taken: Registers, stack: Stack, modules: Sequence[Module], caller: int
) -> tuple[Unwound, ...] | None:
    """Those of the program, down to the outermost; None: something in between is not understood.

    Where a library that is not the program's calls us, it was given something that is not known.
    """
    found = list(unwound(taken.pc, taken.registers, stack, partial(_rules, modules)))
    if not found or not found[-1].rules.outermost:
        return None
    inner = next((n for n, frame in enumerate(found) if frame.code == caller), 0)
    module = _module_at(modules, caller)
    if not inner or module is None or is_of_others(module):
        return None
    called = called_before(module.path, found[inner].rules, caller - module.base)
    return tuple(found[: inner - 1 : -1]) if _TOLD.fullmatch(called) else None


def _rules(modules: Sequence[Module], code: int) -> Rules | None:
    module = _module_at(modules, code)
    return rules_at(module.path, code - module.base - 1) if module else None


def _module_at(modules: Sequence[Module], code: int) -> Module | None:
    return next((module for module in modules if module.lo <= code < module.hi), None)


# --- in what two differ


@dataclass(frozen=True, slots=True)
class Apart:
    """One thing: a register, part of the stack, or else where the thread is or what it does there.

    Of that, the frames in which the two are not the same any more; none is there at a thread's end.
    """

    held: Held
    frame: Unwound | None
    register: int | None = None
    stack: Range | None = None
    twin: Unwound | None = None

    def module(self, frame: Unwound) -> Module | None:
        """Whose code it is of."""
        return _module_at(self.held.values.modules, frame.code)


def apart(one: Held, other: Held, stored: Iterable[Range]) -> Iterator[Apart]:
    """All that the program may still read; what it has stored on the stack is told by `stored`."""
    places = list(stored)
    for mine, theirs in zip_longest(one.frames, other.frames):
        if not mine or not theirs or _place(mine) != _place(theirs):
            yield Apart(one, mine, twin=theirs)
            return
        yield from _in_frame(one, other, mine, theirs, places)
    if (one.op, one.about) != (other.op, other.about):
        last = one.frames[-1] if one.frames else None
        yield Apart(one, last, twin=last)


def _place(frame: Unwound) -> tuple[int, int, int]:
    return frame.code, frame.end, frame.sp


def _in_frame(
    one: Held, other: Held, mine: Unwound, theirs: Unwound, stored: list[Range]
) -> Iterator[Apart]:
    module = _module_at(one.values.modules, mine.code)
    if module is None:
        return
    reads = partial(may_read, module.path, mine.rules, mine.code - module.base)
    pointer = mine.registers.get(RBP, 0)
    frame = pointer - mine.sp if mine.sp <= pointer < mine.end else None
    for register in KEPT:
        values = mine.registers.get(register, 0), theirs.registers.get(register, 0)
        if (part := _part(one, other, *values)) and reads(Bytes(register, *part)):
            yield Apart(one, mine, register)
    kept = {mine.end + at for at in mine.rules.saved.values()}
    for address in _words_apart(one, other, mine):
        part = _part(one, other, one.stack.word(address) or 0, other.stack.word(address) or 0)
        if part is None or address in kept:
            continue
        low, high = address + part[0], address + part[1]
        if any(low < end and begin < high for begin, end in stored) or reads(
            Bytes(None, low - mine.sp, high - mine.sp, frame)
        ):
            yield Apart(one, mine, stack=(low, high))


def _words_apart(one: Held, other: Held, frame: Unwound) -> list[int]:
    """Of the stack within the frame; below its end stands where it was called from."""
    first = -(-frame.sp // WORD) * WORD
    return [
        address
        for address in range(first, frame.end - WORD, WORD)
        if (word := one.stack.word(address)) is not None
        and (twin := other.stack.word(address)) is not None
        and (word != twin or any(each.values.may_lead_to_block(word) for each in (one, other)))
    ]


def _part(one: Held, other: Held, mine: int, theirs: int) -> tuple[int, int] | None:
    """The bytes in which two words are not the same, all of them of a pointer; None: they are."""
    meant, twin = one.values.meant(mine), other.values.meant(theirs)
    if meant == twin:
        return None
    if not isinstance(meant, int) or not isinstance(twin, int):
        return 0, WORD
    bits = meant ^ twin
    return ((bits & -bits).bit_length() - 1) // 8, (bits.bit_length() + 7) // 8
