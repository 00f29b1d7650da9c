# SPDX-License-Identifier: Apache-2.0
"""Two threads that hold addresses of blocks: what counts is which block, not where it lies."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from eitherway.symbols.unwinding import RBX, RSP, Rules, Stack, Unwound
from eitherway.worlds.threads import held
from eitherway.worlds.threads.events import Module
from eitherway.worlds.threads.held import Held, Values, apart

MODULE = Module("/nowhere/program", 0, 0, 1 << 20)
RULES = Rules(0x1000, 0x2000, RSP, 32)
SP = 0x7000


@dataclass
class Blocks:
    """Of 16 bytes each."""

    starts: list[int]

    def __getitem__(self, number: int) -> SimpleNamespace:
        return SimpleNamespace(start=self.starts[number], size=16)

    def find(self, addresses: Any, _: Any) -> Any:
        inside = [
            next((n for n, at in enumerate(self.starts) if at <= value < at + 16), -1)
            for value in addresses.tolist()
        ]
        return np.array(inside)


def holding(starts: list[int], register: int, word: int) -> Held:
    """In `rbx` and in the second word of its frame, in a branch with blocks of these addresses."""
    named: Any = SimpleNamespace(
        of={number: f"block {number}" for number in range(len(starts))},
        blocks=Blocks(starts),
        span=(min(starts, default=0), max(starts, default=-16) + 16),
    )
    frame = Unwound(0x1100, SP, SP + 32, {RBX: register}, RULES)
    stack = Stack(SP, bytes(8) + word.to_bytes(8, "little") + bytes(16))
    return Held(1, 8, (), (frame,), stack, Values(named, 0, [MODULE]))


@pytest.fixture(autouse=True)
def all_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "may_read", lambda *_: True)


def test_the_same_block_at_another_address_is_no_difference() -> None:
    one, other = holding([0x100, 0x200], 0x104, 0x208), holding([0x200, 0x100], 0x204, 0x108)
    assert list(apart(one, other, ())) == []


def test_another_block_at_the_same_address_is_one() -> None:
    one, other = holding([0x100, 0x200], 0x104, 0x208), holding([0x200, 0x100], 0x104, 0x208)
    found = list(apart(one, other, ()))
    assert [(each.register, each.stack) for each in found] == [
        (RBX, None),
        (None, (SP + 8, SP + 16)),
    ]


def test_numbers_differ_in_the_bytes_that_do() -> None:
    one, other = holding([], 0x11223344, 5), holding([], 0x11223344, 0x0105)
    assert [each.stack for each in apart(one, other, ())] == [(SP + 9, SP + 10)]


def test_what_was_stored_counts_though_no_instruction_reads_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held, "may_read", lambda *_: False)
    one, other = holding([], 1, 5), holding([], 2, 6)
    assert list(apart(one, other, ())) == []
    assert [each.stack for each in apart(one, other, [(SP + 8, SP + 12)])] == [(SP + 8, SP + 9)]
