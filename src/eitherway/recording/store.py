# SPDX-License-Identifier: Apache-2.0
"""The `.eitherway/` store: recordings by name, `latest`, and not more of them than wanted.

.eitherway/            0700
  recordings/          comes first and is the mark: what is not empty and lacks it is not ours
    NAME/              locked by its writer for as long as it lives, shared by its readers
  .gitignore           everything: recordings hold the target's input
  checked/             what searches know of programs, by build; findings.json, of all of them
  lock                 held while names are given, `latest` moves or recordings are removed
  latest               symbolic link to the recording that was completed last

Nothing is removed that is not a recording of ours by its name and by all that is in it.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from eitherway.closing import Closing
from eitherway.errors import BadInput, Unavailable
from eitherway.recording import files, home
from eitherway.recording.layout import BEGUN, MANIFEST
from eitherway.recording.manifest import is_stream_name
from eitherway.recording.refusals import shown, shown_path
from eitherway.recording.retention import Retention

LATEST = "latest"
CHECKED = "checked"

_NAME = re.compile(r"\d{8}-\d{6}-\d{6}", re.ASCII)  # as `_named` writes it
_REMOVED = ".removed-"
_FILES = {name + end for name in (MANIFEST, BEGUN) for end in ("", files.DRAFT)}


def _named(moment: datetime) -> str:
    return moment.strftime("%Y%m%d-%H%M%S-%f")


def _now() -> datetime:
    return datetime.now(UTC)


def _nobody(_text: str) -> None:
    """Hears what is told to nobody."""


class Slot(Closing):
    """A fresh directory for one recording, and the lock that keeps it from being removed."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Made by `Store.new`."""
        self.path = path
        self._descriptor = descriptor

    def close(self) -> None:
        """Nothing more will be written."""
        if self._descriptor >= 0:
            files.unlock(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1


@dataclass(frozen=True, slots=True)
class Entry:
    """A recording in the store."""

    name: str
    path: Path
    complete: bool
    size: int  # bytes


class Store:
    """Recordings under one directory; any number of processes may use it at once."""

    def __init__(
        self,
        root: Path,
        *,
        keep: Retention | None = None,
        tell: Callable[[str], None] = _nobody,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Nothing is created before it is needed; `tell` hears what was removed, and why."""
        self.root = root
        self.keep = keep or Retention()
        self._tell = tell
        self._now = now

    @classmethod
    def default(cls, tell: Callable[[str], None] = _nobody) -> Self:
        """In $EITHERWAY_DIR, or .eitherway in the working directory."""
        root = Path(os.environ.get(home.VARIABLE) or ".eitherway")
        return cls(root, keep=Retention.of_environment(os.environ), tell=tell)

    def prepare(self) -> None:
        """Makes the store, so that a place that cannot be one is told before a long run."""
        with self._locked():
            pass

    def new(self) -> Slot:
        """A directory that nobody else has, named after the time so that names sort by age."""
        with self._locked():
            while True:
                path = self._recordings / _named(self._now())
                try:
                    files.make_directory(path)
                except FileExistsError:
                    continue
                descriptor = _open(path)
                files.lock(descriptor)
                return Slot(path, descriptor)

    def publish(self, path: Path) -> list[str]:
        """Makes a complete recording the latest one; the names of older ones that had to go."""
        if not _is_complete(path):
            raise ValueError(f"{path} is not complete")
        with self._locked():
            latest = self.root / LATEST
            if os.path.lexists(latest) and not latest.is_symlink():
                raise home.unusable(self.root, f"has a {LATEST} that is no symbolic link")
            draft = self.root / f".{LATEST}-{path.name}"
            draft.unlink(missing_ok=True)  # of a process that was killed at this very point
            draft.symlink_to(Path(home.RECORDINGS) / path.name)
            os.replace(draft, latest)
        removed = self.prune()
        if removed:
            self._tell(self.keep.told(removed))
        return removed

    def latest(self) -> Path | None:
        """The recording that was completed last, unless it was removed by hand."""
        try:
            name = os.readlink(self.root / LATEST).rpartition("/")[2]
        except OSError:
            return None
        path = self._recordings / name
        return path if name and _is_complete(path) else None

    def entries(self) -> list[Entry]:
        """All recordings, newest first."""
        names = sorted(self._names(), reverse=True)
        return [
            Entry(name, self._recordings / name, _is_complete(self._recordings / name), size)
            for name in names
            if (size := _size(self._recordings / name)) is not None
        ]

    def find(self, name: str) -> Path:
        """The recording with this name, or the only one whose name begins so; or `latest`."""
        if name == LATEST:
            return self._latest_or_refuse()
        names = self._names()
        matching = [name] if name in names else [one for one in names if one.startswith(name)]
        if name and len(matching) == 1:
            return self._recordings / matching[0]
        where = shown_path(self.root)
        if not name or not matching:
            raise BadInput(f"{where} has no recording named {shown(name)!r}{_some(names)}")
        raise BadInput(f"{shown(name)!r} could be several recordings{_some(matching)}")

    def read_checked(self, name: str) -> bytes | None:
        """A file of what searches keep; None when there is none."""
        path = self.root / CHECKED / name
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Unavailable(f"cannot read {shown_path(path)}: {error.strerror}") from error

    def write_checked(self, name: str, data: bytes) -> None:
        """Complete or not at all."""
        with self._locked():
            folder = self.root / CHECKED
            if not folder.is_dir() or folder.is_symlink():
                files.make_directory(folder)
            descriptor = _open(folder)
            try:
                with suppress(FileNotFoundError):  # of a process that was killed at this point
                    os.unlink(name + files.DRAFT, dir_fd=descriptor)
                files.put(descriptor, name, data, folder)
            finally:
                os.close(descriptor)

    def prune(self, keep: Retention | None = None) -> list[str]:
        """Removes the oldest recordings beyond what is kept; returns their names.

        What is being written or read by a living process stays, and so does the latest, and
        whatever does not have a name of ours: somebody put it there to stay.
        """
        keep = keep or self.keep
        removed = []
        with self._locked():
            latest = self.latest()
            count = size = 0
            for entry in filter(_has_name_of_ours, self.entries()):
                count += 1
                size += entry.size
                if entry.path == latest or keep.allows(count, size):
                    continue
                if self._remove(entry):
                    removed.append(entry.name)
        self._sweep()
        return removed

    @property
    def _recordings(self) -> Path:
        return self.root / home.RECORDINGS

    def _names(self) -> list[str]:
        try:
            found = os.listdir(self._recordings)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise Unavailable(
                f"cannot read {shown_path(self._recordings)}: {error.strerror}"
            ) from error
        return [name for name in found if not name.startswith(".")]

    def _latest_or_refuse(self) -> Path:
        path = self.latest()
        if path is None:
            raise BadInput(
                f"{shown_path(self.root)} has no complete recording",
                fix="eitherway record -- COMMAND",
            )
        return path

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone in the store; makes it when it is not there."""
        home.settle(self.root)
        descriptor = self._open_lock()
        try:
            with files.writing(self.root):
                if not files.lock(descriptor, wait=True):
                    where = shown_path(self.root)
                    raise Unavailable(f"the file system of {where} has no locks (flock)")
                yield
        finally:
            os.close(descriptor)

    def _open_lock(self) -> int:
        path, flags = self.root / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        with files.writing(path, fix=home.ELSEWHERE):
            try:
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                return os.open(path, flags)
            os.fchmod(descriptor, 0o600)
            return descriptor

    def _remove(self, entry: Entry) -> bool:
        """Takes a recording's name away in one step, unless somebody writes or reads it."""
        try:
            descriptor = _open(entry.path)
        except OSError:
            return False
        try:
            if not files.lock(descriptor) or not _is_recording(descriptor):
                return False
            os.rename(entry.path, self._recordings / f"{_REMOVED}{entry.name}")
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def _sweep(self) -> None:
        """Deletes what lost its name, also what a process killed while sweeping left."""
        for path in self._recordings.glob(f"{_REMOVED}*"):
            if _NAME.fullmatch(path.name.removeprefix(_REMOVED)):
                shutil.rmtree(path, ignore_errors=True)


def _has_name_of_ours(entry: Entry) -> bool:
    return _NAME.fullmatch(entry.name) is not None


def _is_recording(directory: int) -> bool:
    """Whether there is nothing in it that we do not write."""
    return all(name in _FILES or is_stream_name(name) for name in os.listdir(directory))


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _is_complete(path: Path) -> bool:
    return (path / MANIFEST).is_file()


def _size(path: Path) -> int | None:
    """Bytes of the files of a recording; None when it is none, or was removed meanwhile."""
    if path.is_symlink() or not path.is_dir():
        return None
    try:
        return sum(file.stat(follow_symlinks=False).st_size for file in os.scandir(path))
    except OSError:
        return None


def _some(names: list[str]) -> str:
    """A few names, newest first, for a message."""
    few = sorted(names, reverse=True)[:5]
    return f": {', '.join(map(shown, few))}{' ...' if len(names) > len(few) else ''}" if few else ""
