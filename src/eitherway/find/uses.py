# SPDX-License-Identifier: Apache-2.0
"""What closes the gap between a check of a name and its use, by what the use is."""

import os

from eitherway.worlds.processes.calls import Call

_NEW = {"mkdir", "mkdirat", "mknod", "mknodat", "link", "linkat", "symlink", "symlinkat"}
_BY_DESCRIPTOR = {
    "chmod": "fchmod",
    "fchmodat": "fchmod",
    "chown": "fchown",
    "lchown": "fchown",
    "fchownat": "fchown",
    "truncate": "ftruncate",
    "utimensat": "futimens",
    "utime": "futimens",
    "utimes": "futimens",
    "futimesat": "futimens",
    "setxattr": "fsetxattr",
    "lsetxattr": "fsetxattr",
    "removexattr": "fremovexattr",
    "lremovexattr": "fremovexattr",
    "execve": "fexecve",
    "execveat": "fexecve",
    "chdir": "fchdir",
}


def closes(use: Call, name: str) -> str:
    """One sentence; `name`: the last part of what is checked and used."""
    if not any(found.last and found.name == name for found in use.found):
        return (
            f"'{name}' is a directory on the way of the use: opened once (O_DIRECTORY, with "
            "O_NOFOLLOW) and held, it is the same for the check (fstatat) and the use (openat)."
        )
    if use.opens & os.O_CREAT and not use.opens & os.O_EXCL:
        return (
            "The use may make the file: with O_EXCL it fails if there is one by then, and follows "
            "no link; no check is needed before."
        )
    if use.opens & os.O_EXCL or use.name in _NEW:
        return (
            f"{use.name} fails by itself when the name is taken: that answer is the check, and "
            "what was found out before says nothing."
        )
    if use.shape.gives == "descriptor":
        return (
            "To open it first (O_NOFOLLOW, if it must be no link) and to ask what was opened "
            "(fstat) leaves no moment between the two."
        )
    if other := _BY_DESCRIPTOR.get(use.name):
        return (
            f"Opened once (O_NOFOLLOW, if it must be no link), asked by fstat and used by {other}, "
            "it is one and the same file."
        )
    return (
        f"{use.name} takes whatever has the name: a rename to a name of one's own first, or a lock "
        "(flock on another file) that the other takes too, keeps the change out."
    )
