# SPDX-License-Identifier: Apache-2.0
"""What a file holds besides zeros: holes are passed over, however large they are."""

import errno
import os
from collections.abc import Iterator

_SIZE = 1 << 20
_ZEROS = bytes(_SIZE)


def written_blocks(file: int) -> Iterator[tuple[int, bytes]]:
    """Offsets and contents; files of one size have the same ones exactly when they are equal."""
    after = 0
    while (found := _data_from(file, after)) is not None:
        place = found - found % _SIZE  # so that it does not matter where the data begins
        data = os.pread(file, _SIZE, place)
        if data != _ZEROS[: len(data)]:
            yield place, data
        after = place + _SIZE


def _data_from(file: int, place: int) -> int | None:
    try:
        return os.lseek(file, place, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # nothing but a hole to the end
            return None
        raise
