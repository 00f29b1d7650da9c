# SPDX-License-Identifier: Apache-2.0
"""The directory of a store: made by us, or one that we may use without harm to anybody.

What was there before is never changed: modes and .gitignore are given to what we made ourselves. A
variable that names /tmp or a checkout, or a link that came with one, must not cost anybody a file.
"""

import os
import stat
from pathlib import Path

from eitherway.errors import Unavailable
from eitherway.recording import files
from eitherway.recording.refusals import kind_of_file, shown_path

VARIABLE = "EITHERWAY_DIR"
ELSEWHERE = f"{VARIABLE}=DIRECTORY eitherway ..., a directory that is new or empty"
RECORDINGS = "recordings"  # made first, and so the mark: what is not empty and lacks it is not ours


def settle(root: Path) -> None:
    """Makes what is missing of a store; what is there is looked at and left as it is."""
    with files.writing(root, fix=ELSEWHERE):
        root.parent.mkdir(parents=True, exist_ok=True)
        made = _make(root)
        if not made:
            _refuse_foreign(root)
        if not _make(root / RECORDINGS):
            _refuse_unsafe(root, root / RECORDINGS)
        if made:
            _ignore_in_git(root)


def unusable(root: Path, what: str) -> Unavailable:
    """Why a directory cannot be a store, and the way out."""
    message = f"recordings cannot be kept in {shown_path(root)}: it {what}"
    return Unavailable(message, fix=ELSEWHERE)


def _make(path: Path) -> bool:
    """Whether it was missing."""
    try:
        files.make_directory(path)
    except FileExistsError:
        return False
    return True


def _refuse_foreign(root: Path) -> None:
    """A root that is used for something else; the mark is looked for last: it is made first."""
    _refuse_unsafe(root, root)
    if os.listdir(root) and not os.path.lexists(root / RECORDINGS):
        raise unusable(root, "holds other things, and no recordings of ours")


def _refuse_unsafe(root: Path, path: Path) -> None:
    """A place where writing could change what belongs to somebody else."""
    status = path.lstat()
    which = "" if path == root else f"has {path.name}, which "
    if not stat.S_ISDIR(status.st_mode):
        kind = "a file" if stat.S_ISREG(status.st_mode) else kind_of_file(status.st_mode)
        raise unusable(root, f"{which}is {kind}, not a directory")
    if status.st_uid != os.geteuid():
        raise unusable(root, f"{which}belongs to user {status.st_uid}, not to {os.geteuid()}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(status.st_mode)
        raise unusable(root, f"{which}can be written by others (mode {mode:04o})")


def _ignore_in_git(root: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(root / ".gitignore", flags, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, b"*\n")
    finally:
        os.close(descriptor)
