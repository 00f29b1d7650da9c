# SPDX-License-Identifier: Apache-2.0
"""A directory for what is gone in a moment, in memory where there is such a place.

Whoever has one holds a lock of it. One that nobody holds is what a killed process left: whoever
makes the next one takes it away.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from eitherway.closing import Closing

_FAST = Path("/dev/shm")  # noqa: S108  what is made in it has a name of its own
_NAME = "eitherway-branches-"


class Scratch(Closing):
    """Removed when it is closed, or when the next one is made."""

    def __init__(self, base: Path | None = None) -> None:
        """In `base`, if not where it is fastest."""
        place = base or (_FAST if _FAST.is_dir() else Path(tempfile.gettempdir()))
        _sweep(place)
        made = Path(tempfile.mkdtemp(prefix=".eitherway-", dir=place))
        self._held = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._held, fcntl.LOCK_EX)  # before it has a name that is swept
        self.path = made.rename(place / f"{_NAME}{made.name.rpartition('-')[2]}")

    def new(self) -> Path:
        """A directory in it."""
        return Path(tempfile.mkdtemp(dir=self.path))

    def close(self) -> None:
        """Forget what is left in it."""
        if self._held >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._held)
            self._held = -1


def on_disk() -> Scratch:
    """For what may be larger than memory, or is told to lie there (TMPDIR)."""
    return Scratch(Path(tempfile.gettempdir()))


def _sweep(place: Path) -> None:
    """What is another user's is left to that one."""
    for path in place.glob(f"{_NAME}*"):
        try:
            held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(held).st_uid == os.geteuid():
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue  # somebody has it
        finally:
            os.close(held)
