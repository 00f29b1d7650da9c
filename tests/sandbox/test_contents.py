# SPDX-License-Identifier: Apache-2.0
"""What files hold is told alike exactly when they are alike, whatever their holes are."""

import os
import sys
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sandbox.harness import Place

from eitherway.sandbox.blocks import written_blocks
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.contents import UNREADABLE

HUGE = 4 << 40
DEEP = 10_000
MAKE_DEEP = f"import os\nfor _ in range({DEEP}): os.mkdir('d'); os.chdir('d')\nopen('leaf', 'w')"
PAGE = 4096
WRITES = st.lists(st.tuples(st.integers(0, 600), st.sampled_from([b"", b"\0", b"a", b"ab"])))


def blocks_of(writes: list[tuple[int, bytes]], size: int) -> tuple[bytes, list[tuple[int, bytes]]]:
    """With holes wherever nothing was written; what it holds too."""
    with tempfile.TemporaryFile() as file:
        os.ftruncate(file.fileno(), size)
        for page, data in writes:
            os.pwrite(file.fileno(), data, page * PAGE)
        return os.pread(file.fileno(), size, 0), list(written_blocks(file.fileno()))


@settings(max_examples=200, deadline=None)
@given(writes=WRITES, others=WRITES)
def test_blocks_are_equal_exactly_when_the_files_are(
    writes: list[tuple[int, bytes]], others: list[tuple[int, bytes]]
) -> None:
    size = 601 * PAGE
    (one, blocks), (another, other_blocks) = blocks_of(writes, size), blocks_of(others, size)
    assert (one == another) == (blocks == other_blocks)
    rebuilt = bytearray(size)
    for place, data in blocks:
        rebuilt[place : place + len(data)] = data
    assert rebuilt == one


def test_no_more_is_read_of_a_file_than_was_written() -> None:
    pages = range(0, 1000 << 30, 1 << 30)
    with tempfile.TemporaryFile() as file:
        for place in pages:
            os.pwrite(file.fileno(), b"a", place)
        os.ftruncate(file.fileno(), 1000 << 30)
        blocks = list(written_blocks(file.fileno()))
    assert blocks == [(place, b"a" + bytes(PAGE - 1)) for place in pages]


def test_directories_may_be_deeper_than_paths(box: Sandbox, fresh: Place) -> None:
    with box.popen([sys.executable, "-c", MAKE_DEEP], cwd=fresh.work) as process:
        assert process.wait() == 0
    contents = box.contents()
    box.reset()
    longest = max(contents, key=len)
    assert set(longest.removeprefix(f"{fresh.work}/").split("/")) == {"d"}
    assert [path for path in contents if contents[path] == UNREADABLE] == [longest]
    assert len(longest) + len("/d") > 4095 >= len(longest)


def test_looking_can_be_broken_off(box: Sandbox, fresh: Place) -> None:
    class EnoughError(Exception):
        pass

    looks = iter(range(4))  # at the layers, at a directory, at its file, at a block of that

    def between() -> None:
        if next(looks, None) is None:
            raise EnoughError

    script = "mkdir new; head -c 9000000 /dev/zero | tr '\\0' a > new/large"
    with box.popen(["sh", "-c", script], cwd=fresh.work) as process:
        assert process.wait() == 0
    with pytest.raises(EnoughError):
        box.contents(between=between)
    assert box.contents()
    box.reset()


def told(box: Sandbox, place: Place, script: str) -> str:
    with box.popen(["sh", "-c", script], cwd=place.work) as process:
        assert process.wait() == 0
    contents = box.contents()
    box.reset()
    return contents[f"{place.work}/new"]


def test_a_file_of_terabytes_is_told_by_what_was_written(box: Sandbox, fresh: Place) -> None:
    large = f"truncate -s {HUGE} new"
    write = f"dd of=new bs=1 conv=notrunc status=none seek={HUGE - 3}"
    hole, zero, one, two = (
        told(box, fresh, script)
        for script in (
            large,
            f"{large}; printf '\\0' | {write}",
            f"{large}; printf a | {write}",
            f"{large}; printf b | {write}",
        )
    )
    assert hole == zero
    assert len({hole, one, two, told(box, fresh, f"truncate -s {HUGE - 1} new")}) == 4
