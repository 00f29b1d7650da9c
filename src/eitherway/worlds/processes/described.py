# SPDX-License-Identifier: Apache-2.0
"""What micro-operations are about, for people."""

from eitherway.model.described import Described
from eitherway.model.outcome import signal_name
from eitherway.worlds.processes import ipc
from eitherway.worlds.processes.meaning import BYTES, PART_WORDS, Micro
from eitherway.worlds.processes.paths import Paths

OF_PROCESSES = {
    "process": "process",
    "disposition": "what is done with signals by",
    "signals": "signals to",
    "parent": "the parent of",
}


def described(micro: Micro, paths: Paths) -> Described:
    """By the names that files had when it happened."""
    if micro.sort in OF_PROCESSES:
        return _of_process(micro)
    if micro.sort == "notification" or micro.sort[:3] in ipc.WORDS:
        return _of_ipc(micro)
    if micro.sort == "directory" and micro.name:
        return Described("entry", paths.entry(micro.object, micro.name))
    path = paths.of(micro.object)
    if micro.sort == "directory":
        return Described("directory", path, "all entries")
    if micro.sort == "position":
        return Described("position in", path)
    return Described("file", path, PART_WORDS.get((micro.lo, micro.hi)) or _bytes(micro))


def _of_ipc(micro: Micro) -> Described:
    if micro.sort == "notification":
        return Described("who is told of a message in a queue")
    words, key = ipc.WORDS[micro.sort[:3]], micro.sort.endswith("key")
    return Described(f"{words} of key {micro.lo:#x}" if key else f"{words} {micro.object}")


def _of_process(micro: Micro) -> Described:
    if micro.sort == "process":
        return Described("process", f"/proc/{micro.object}/{micro.name}".rstrip("/"))
    one_signal = micro.sort != "parent" and micro.hi == micro.lo + 1
    part = signal_name(micro.lo) if one_signal else ""
    return Described(f"{OF_PROCESSES[micro.sort]} process {micro.object}", part=part)


def _bytes(micro: Micro) -> str:
    if micro.hi - micro.lo > 1 << 40:
        return ""
    return f"bytes {micro.lo - BYTES} to {micro.hi - BYTES - 1}"
