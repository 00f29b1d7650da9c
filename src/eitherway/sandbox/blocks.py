# SPDX-License-Identifier: Apache-2.0
"""What a file holds besides zeros: holes are passed over, however large and many they are."""

import errno
import os
from collections.abc import Iterator

_PAGE = 4096
_ZEROS = bytes(_PAGE)
_SIZE = 1 << 20  # of a block, at most: no block goes over a multiple of it


def written_blocks(file: int) -> Iterator[tuple[int, bytes]]:
    """Offsets and contents; files of one size have the same ones exactly when they are equal.

    They are pages with something else than zeros, and as long as they can be.
    """
    place, block = 0, bytearray()
    for begin, page in _pages(file):
        end = place + len(block)
        if block and (begin != end or end % _SIZE == 0):
            yield place, bytes(block)
            block.clear()
        if not block:
            place = begin
        block += page
    if block:
        yield place, bytes(block)


def _pages(file: int) -> Iterator[tuple[int, bytes]]:
    for begin, end in _extents(file):
        for place in range(begin, end, _SIZE):
            data = os.pread(file, min(_SIZE, end - place), place)
            for start in range(0, len(data), _PAGE):
                page = data[start : start + _PAGE]
                if page != _ZEROS[: len(page)]:
                    yield place + start, page


def _extents(file: int) -> Iterator[tuple[int, int]]:
    """Where the file may hold something: from one page to another."""
    end = 0
    while (data := _data_from(file, end)) is not None:
        begin = data - data % _PAGE
        hole = os.lseek(file, data, os.SEEK_HOLE)
        end = hole + -hole % _PAGE
        yield begin, end


def _data_from(file: int, place: int) -> int | None:
    try:
        return os.lseek(file, place, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # nothing but a hole to the end
            return None
        raise
