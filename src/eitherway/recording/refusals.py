# SPDX-License-Identifier: Apache-2.0
"""Why a recording is refused: one reason, one message."""

# ruff: noqa: D103  the message is the documentation

import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from eitherway import __version__
from eitherway.errors import BadInput
from eitherway.recording.layout import BEGUN, MAJOR, MANIFEST, MINOR

_SHOWN = 80

_FOREIGN = {
    b"\x7fELF": "an ELF file",
    b"PERFILE2": "a perf recording",
    b"\x1f\x8b": "a gzip file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"PK\x03\x04": "a zip file",
    b"{": "JSON, perhaps",
    b"#!": "a script",
}

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Damage(BadInput):
    """A stream that is not as it was written; the blocks before are good."""


def shown(text: object) -> str:
    """Text that came out of a file, fit for a terminal and for one line."""
    line = _printable(str(text))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def shown_path(path: Path) -> str:
    """A path, fit for a terminal; never cut, because what tells files apart stands at its end."""
    return _printable(str(path))


def _printable(line: str) -> str:
    return line if line.isprintable() else ascii(line)[1:-1]


def looks_like(first: bytes) -> str:
    """What a file seems to be by its first bytes."""
    for magic, name in _FOREIGN.items():
        if first.startswith(magic):
            return name
    return f"bytes {first[:8].hex(' ')}" if first else "nothing"


def missing(path: Path) -> BadInput:
    return BadInput(f"there is no recording at {shown_path(path)}")


def a_file(path: Path, first: bytes) -> BadInput:
    return BadInput(
        f"{shown_path(path)} is a file ({looks_like(first)}), and a recording is a directory "
        f"with a {MANIFEST} in it"
    )


def unreadable(path: Path, error: OSError) -> BadInput:
    reason = error.strerror or str(error)
    fix = f"ls -ld {shlex.quote(shown_path(path))}" if isinstance(error, PermissionError) else ""
    return BadInput(f"{shown_path(path)} cannot be read: {reason}", fix=fix)


def not_regular(path: Path, what: str) -> BadInput:
    return BadInput(f"{shown_path(path)} is {what}, and a recording is made of regular files only")


def empty(path: Path) -> BadInput:
    return BadInput(
        f"{shown_path(path)} is an empty directory: no recording, or one whose recorder was "
        "stopped before it wrote anything"
    )


def no_recording(path: Path) -> BadInput:
    return BadInput(f"{shown_path(path)} is not a recording: it has neither {MANIFEST} nor {BEGUN}")


def still_written(path: Path) -> BadInput:
    return BadInput(
        f"{shown_path(path)} is still being written by a living process",
        instead="wait for it to end, or read what is there already with --incomplete",
    )


def incomplete(path: Path) -> BadInput:
    return BadInput(
        f"{shown_path(path)} is incomplete: its recorder was stopped before the end",
        instead="read it up to its last whole block with --incomplete",
    )


def manifest_size(path: Path, size: int, limit: int) -> BadInput:
    return BadInput(f"{shown_path(path)} has {size} bytes; at most {limit} can be right")


def manifest_text(path: Path, reason: str) -> BadInput:
    return BadInput(f"{shown_path(path)} is not JSON: {shown(reason)}")


def manifest_foreign(path: Path, name: object) -> BadInput:
    return BadInput(f"{shown_path(path)} is not of EitherWay: its format is {shown(repr(name))}")


def manifest_field(path: Path, where: str, needed: str) -> BadInput:
    return BadInput(f"{shown_path(path)} is damaged: {shown(where)} {needed}")


def newer(path: Path, major: int, minor: int, tool: object) -> BadInput:
    return BadInput(
        f"{shown_path(path)} has format version {shown(major)}.{shown(minor)}, written by "
        f"EitherWay {shown(tool)}; "
        f"this is EitherWay {__version__}, which reads up to {MAJOR}.{MINOR}",
        fix="pip install --upgrade eitherway",
    )


def never_was(path: Path, major: int) -> BadInput:
    return BadInput(f"{shown_path(path)} says format version {shown(major)}, which never existed")


def stream_missing(path: Path) -> Damage:
    return Damage(f"{shown_path(path)} is missing, and {MANIFEST} lists it")


def stream_unlisted(path: Path) -> BadInput:
    return BadInput(f"{shown_path(path)} is a stream that {MANIFEST} does not list")


def too_many_streams(path: Path, limit: int) -> BadInput:
    return BadInput(f"{shown_path(path)} holds more than {limit} stream files")


def stream_size(path: Path, size: int, expected: int) -> Damage:
    if size < expected:
        return Damage(
            f"{shown_path(path)} is truncated: it ends at byte {size}, {MANIFEST} says {expected}",
            instead="read it up to its last whole block with --incomplete",
        )
    return Damage(
        f"{shown_path(path)} has {size} bytes, {MANIFEST} says {expected}: more was added"
    )


def stream_foreign(path: Path, first: bytes) -> BadInput:
    return BadInput(
        f"{shown_path(path)} is not a stream of EitherWay: it begins like {looks_like(first)}"
    )


def truncated(path: Path, block: int, offset: int, size: int) -> Damage:
    return Damage(
        f"{shown_path(path)} is truncated: it ends at byte {size}, inside block {block}, "
        f"which begins at byte {offset}",
        instead="read it up to its last whole block with --incomplete",
    )


def damaged(path: Path, block: int, offset: int, what: str) -> Damage:
    return Damage(
        f"{shown_path(path)} is damaged: block {block}, at byte {offset}, {what}",
        instead="read it up to the block before with --incomplete",
    )


def unknown_block(path: Path, block: int, what: str) -> BadInput:
    return BadInput(
        f"block {block} of {shown_path(path)} has {what}, "
        f"which EitherWay {__version__} does not know",
        fix="pip install --upgrade eitherway",
    )


def malformed(path: Path, block: int, what: str) -> BadInput:
    return BadInput(f"block {block} of {shown_path(path)} makes no sense: {what}")


def two_streams(path: Path, kind: str, other: str) -> BadInput:
    return BadInput(f"{shown_path(path)} holds {kind}, which stand in {shown(other)} already")


def stream_summary(path: Path, what: str) -> Damage:
    return Damage(f"{shown_path(path)} is not the stream that {MANIFEST} lists: {what}")


def no_trace(path: Path, has: str) -> BadInput:
    return BadInput(f"{shown_path(path)} holds no trace; it has {has or 'nothing'}")


def unfinished(path: Path) -> str:
    return f"{shown_path(path)} is incomplete: what came after its last whole blocks is not there"


def nothing_whole(path: Path, losses: Sequence[str]) -> BadInput:
    return BadInput(
        f"{shown_path(path)} has no operation that is whole, so there is nothing to look at: "
        f"{'; '.join(losses)}"
    )


def dropped(path: Path, operations: int) -> str:
    return (
        f"{shown_path(path)} has {operations} operations at its end that need what was lost: "
        "they are left out"
    )


def broken_tables(path: Path, what: str) -> BadInput:
    return BadInput(f"the tables of {shown_path(path)} do not fit together: {what}")


def vanished(path: Path) -> Damage:
    return Damage(f"{shown_path(path)} was removed while it was read")


def kind_of_file(mode: int) -> str:
    """What stands where a regular file should, from its st_mode."""
    return _KINDS.get(stat.S_IFMT(mode), "not a regular file")
