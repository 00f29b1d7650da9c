# SPDX-License-Identifier: Apache-2.0
"""What a run takes of the machine's memory, and when that is more than there is for it."""

from dataclasses import dataclass
from pathlib import Path

from eitherway.sandbox.processes import descendants, resident

_MACHINE = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # of a container that has a limit of its own
_MOST, _MUCH, _RESERVE = 2, 16, 8  # parts of all memory


def taken(process: int) -> int:
    """Bytes of a process and all below it; 0 is no process."""
    return sum(map(resident, descendants(process))) if process else 0


@dataclass(frozen=True, slots=True)
class Share:
    """Of the memory that there is, with what lies in it of a sandbox's files.

    A run may have half of it, or `most` bytes. Several at once can come to more: when little is
    left for everybody, those end that have much.
    """

    most: int | None = None
    machine: Path = _MACHINE
    group: Path = _GROUP

    def is_exceeded(self, took: int) -> bool:
        """By a run that took so many bytes."""
        total = min(_number(self.machine, "MemTotal:") << 10, self._limit())
        most = total / _MOST if self.most is None else self.most
        return took > most or (took * _MUCH > total and self._left() * _RESERVE < total)

    def _limit(self) -> float:
        try:
            return float(self.group.joinpath("memory.max").read_text(encoding="ascii"))
        except (OSError, ValueError):  # there is none, or it is "max"
            return float("inf")

    def _left(self) -> float:
        """Bytes that can be had without taking them from anybody."""
        machine = _number(self.machine, "MemAvailable:") << 10
        limit = self._limit()
        if limit == float("inf"):
            return machine
        current = int(self.group.joinpath("memory.current").read_text(encoding="ascii"))
        return min(machine, limit - current + _number(self.group / "memory.stat", "inactive_file"))


WHOLE = Share()


def _number(path: Path, name: str) -> int:
    """Of the line that begins with this word."""
    for line in path.read_text(encoding="ascii").splitlines():
        word, *rest = line.split()
        if word == name:
            return int(rest[0])
    raise LookupError(f"{path} has no {name}")
