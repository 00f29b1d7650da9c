# SPDX-License-Identifier: Apache-2.0
"""Where a command's words go: standard output, standard error, and files that the user names.

Files are renamed into place, so that nothing half-written is left. A reader that goes away
(`eitherway races | head`) ends the showing and not the command, whose exit code is its answer.
"""

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from eitherway.errors import Problem, Unavailable, UsageError
from eitherway.model.text import printable

STDOUT = "-"

# What is wrong with the name itself; all else (rights, space, a broken disk) is the machine's.
_WRONG_NAME = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
)


def open_closed_streams() -> None:
    """Streams that the caller closed (`2>&-`) become /dev/null.

    Else the next file opened gets the number of a stream, and Python has none to write to.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor != number:
            os.dup2(descriptor, number)
            os.close(descriptor)
        # Kept open for the life of the process, as the stream it stands for.
        setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8"))  # noqa: SIM115


def say(words: str) -> None:
    """A line about what was done, away from the report."""
    tell(f"eitherway: {words}")


def tell(words: str) -> None:
    """To standard error, with nothing in it that a terminal would obey; line ends stay."""
    lines = (printable(line) for line in words.expandtabs().split("\n"))
    try:
        print("\n".join(lines), file=sys.stderr, flush=True)
    except OSError:  # nobody is left to be told
        silence(sys.stderr)


@contextmanager
def to_stdout() -> Iterator[TextIO]:
    """Standard output for a text; what its encoding cannot show is escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise Unavailable(f"standard output cannot be written: {error.strerror}") from None


def flush() -> None:
    """See to it that what was printed arrives; `Unavailable` when it cannot."""
    with to_stdout():
        pass


def silence(stream: TextIO) -> None:
    """What is still in the buffer has no home: it must not fail again when the process ends."""
    with suppress(OSError, ValueError):  # ValueError: a stream that is none of the system's
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)


def check_target(target: str) -> None:
    """Refuse what could not be written in the end, before any work is done for it."""
    if target == STDOUT:
        return
    try:
        if is_special(target):
            return
        folder = Path(os.path.realpath(target)).parent
        os.stat(folder)
        if Path(target).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"the folder {folder} takes no new files")
    except OSError as error:
        raise _unwritable(target, error) from None


def write_file(target: str, write: Callable[[TextIO], object]) -> None:
    """Complete or not at all, to a file or to standard output for `-`."""
    if target == STDOUT:
        with to_stdout() as out:
            write(out)
        return
    try:
        if is_special(target):
            with open(target, "w", encoding="utf-8", errors="backslashreplace") as file:
                write(file)
        else:
            # Through a symbolic link, not in its place.
            _replace(Path(os.path.realpath(target)), write)
    except OSError as error:
        raise _unwritable(target, error) from None


def all_of(*steps: Callable[[], None]) -> None:
    """Each is done, whatever became of those before it; then the first problem is told."""
    problems: list[Problem] = []
    for step in steps:
        try:
            step()
        except Problem as problem:
            problems.append(problem)
    if problems:
        raise problems[0]


def is_special(target: str) -> bool:
    """A device or a pipe, which must stay what it is: /dev/null, a shell's `>(command)`."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _replace(path: Path, write: Callable[[TextIO], object]) -> None:
    """Write a file that nobody can guess, and give it the name; rights stay as they were."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    draft = path.with_name(f".eitherway-{os.urandom(8).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(draft, flags, 0o666)  # less the umask, as any new file
    try:
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            _take_rights(file.fileno(), path)
            write(file)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _take_rights(descriptor: int, path: Path) -> None:
    """Those of the file that is there: overwriting a secret must not publish it."""
    try:
        old = path.stat()
    except FileNotFoundError:
        return
    with suppress(PermissionError):  # the owner of a file can be changed by root alone
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _unwritable(target: str, error: OSError) -> Problem:
    message = f"{target} cannot be written: {error.strerror}"
    if error.errno in _WRONG_NAME:
        return UsageError(message)
    return Unavailable(message, instead="name a file in another folder")
