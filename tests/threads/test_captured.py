# SPDX-License-Identifier: Apache-2.0
"""Output is compared to its last byte, and where two differ is told, with little of them kept."""

import pytest

from eitherway.worlds.threads.captured import KEPT, Capture, Captured, apart

LINE = b"0123456789abcde\n"
MUCH = LINE * (5 * KEPT // len(LINE))


def captured(data: bytes, start: int = 0, pieces: int = 50_000) -> Captured:
    capture = Capture(start)
    for at in range(0, len(data), pieces):
        capture.add(data[at : at + pieces])
    return capture.captured()


def changed(at: int) -> bytes:
    return MUCH[:at] + b"X" + MUCH[at + 1 :]


def test_how_it_comes_does_not_matter() -> None:
    one, other = captured(MUCH, pieces=7919), captured(MUCH, pieces=1 << 20)
    assert one == other
    assert one.chain == other.chain


def test_little_is_kept_of_much() -> None:
    capture = Capture(2 * KEPT)
    for _ in range(80):
        capture.add(bytes(KEPT))
    done = capture.captured()
    assert (len(done.beginning), len(done.later)) == (KEPT, KEPT)
    assert len(done.chain.marks) <= 256


@pytest.mark.parametrize("at", [0, 17, KEPT - 1])
def test_a_difference_in_what_is_kept(at: int) -> None:
    found = apart(captured(MUCH), captured(changed(at)))
    assert (found.byte, found.line) == (at, at // len(LINE) + 1)
    assert found.lines is not None
    assert found.lines[0] == repr(LINE[:-1].decode())


@pytest.mark.parametrize("at", [KEPT, 3 * KEPT + 5, len(MUCH) - 1])
def test_a_later_one_is_found_by_doing_it_again(at: int) -> None:
    """The first time tells where to look, the second what is there."""
    other = changed(at)
    first = apart(captured(MUCH), captured(other))
    assert first.lines is None
    assert first.byte <= at < first.byte + (1 << 17)
    assert first.line == first.byte // len(LINE) + 1
    second = apart(captured(MUCH, first.byte), captured(other, first.byte))
    assert (second.byte, second.line) == (at, at // len(LINE) + 1)
    assert second.lines is not None
    assert "X" in second.lines[1]


def test_one_that_ends_earlier() -> None:
    found = apart(captured(b"a\nb\n"), captured(b"a\n"))
    assert found.told("was", "is") == "differs from byte 2 on, in line 2: was 'b', is at its end"
    found = apart(captured(MUCH), captured(MUCH[: 3 * KEPT]))
    assert (found.byte, found.lines) == (3 * KEPT, None)
    found = apart(captured(MUCH, 3 * KEPT), captured(MUCH[: 3 * KEPT], 3 * KEPT))
    assert found.lines == (repr(LINE[:-1].decode()), "at its end")


def test_chains_with_blocks_of_different_size() -> None:
    much = bytes(range(256)) * (20 << 12)
    found = apart(captured(much), captured(much[: 12 << 20]))
    assert found.byte == 12 << 20
