# SPDX-License-Identifier: Apache-2.0
"""What `replay` is asked to trace, from words to a request; and what came of it."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from eitherway.cli import arguments
from eitherway.cli.output import say
from eitherway.errors import UsageError

if TYPE_CHECKING:
    from eitherway.worlds.threads.trace_request import TraceRequest, Where

_ADDRESS = re.compile(r"(\+?)(0x[0-9a-fA-F]{1,16})(?::(\d{1,18}))?")
_STEPS = re.compile(r"(\d{0,19}):(\d{0,19})")
_WIDTH = 8  # bytes from an address on, when nobody says how many


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a verb that can trace."""
    group = parser.add_argument_group("trace", "what the run does, noted down in a folder")
    group.add_argument(
        "--trace", metavar="DIR", type=arguments.file_name, help="trace the run into a new folder"
    )
    group.add_argument(
        "--depth",
        choices=("sync", "accesses", "values"),
        help="synchronisation, also plain accesses, also what they read and wrote "
        "(default: accesses)",
    )
    group.add_argument("--steps", metavar="A:B", help="from step A to before step B (default: all)")
    group.add_argument(
        "--at",
        metavar="WHAT",
        help="only plain accesses to a global VARIABLE, to ADDRESS[:BYTES], or to "
        "+OFFSET[:BYTES] into the program",
    )
    group.add_argument(
        "--callers", type=int, metavar="N", help="only the N nearest callers (default: all)"
    )


def request_of(args: argparse.Namespace, program: str) -> "TraceRequest | None":
    """What is asked for; None when no trace is."""
    from eitherway.worlds.threads.trace_request import USUAL, Depth, TraceRequest

    if args.trace is None:
        for name in ("depth", "steps", "at", "callers"):
            if getattr(args, name) is not None:
                raise UsageError(f"--{name} is about a trace", fix=f"--trace DIR --{name} ...")
        return None
    start, stop = _steps(args.steps) if args.steps else (USUAL.start, USUAL.stop)
    callers = USUAL.frames if args.callers is None else args.callers
    if not 0 <= callers <= USUAL.frames:
        raise UsageError("--callers needs a number from 0 on")
    return TraceRequest(
        depth=Depth[(args.depth or "accesses").upper()],
        frames=callers,
        start=start,
        stop=stop,
        where=_where(args.at, program) if args.at is not None else USUAL.where,
    )


def _steps(text: str) -> tuple[int, int]:
    from eitherway.worlds.threads.trace_request import USUAL

    found = _STEPS.fullmatch(text)
    start = int(found[1] or 0) if found else 0
    stop = int(found[2]) if found and found[2] else USUAL.stop
    if not found or start >= stop or stop > USUAL.stop:
        raise UsageError("--steps needs two numbers, the second one larger: --steps 100:200")
    return start, stop


def _where(text: str, program: str) -> "Where":
    from eitherway.worlds.threads.trace_request import Where

    if found := _ADDRESS.fullmatch(text):
        low = int(found[2], 16)
        high = low + int(found[3] or _WIDTH)
        if not low < high < 1 << 64:
            raise UsageError(f"--at {text} names no memory")
        return Where(low, high, relative=bool(found[1]))
    return _variable(text, program)


def _variable(name: str, program: str) -> "Where":
    from eitherway.symbols.variables import variables_of
    from eitherway.worlds.threads.trace_request import Where

    found = [v for v in variables_of(program).variables if v.name == name and v.size]
    if not found:
        raise UsageError(
            f"{program} has no global variable '{name}'",
            fix="--at ADDRESS[:BYTES] for memory that has no name",
        )
    if len(found) > 1:
        ways = ", ".join(f"--at +{v.start:#x}:{v.size}" for v in found)
        raise UsageError(f"{len(found)} variables are called '{name}'", fix=f"one of {ways}")
    return Where(found[0].start, found[0].start + found[0].size, relative=True)


def prepare(directory: str) -> Path:
    """A new folder, or an empty one, that only its owner reads."""
    path = Path(directory)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        if next(path.iterdir(), None) is not None:
            raise UsageError(f"{path} is not empty; a trace needs a folder of its own")
    except OSError as error:
        raise UsageError(f"no trace can be kept in {path}: {error.strerror}") from None
    return path


def tell(path: Path | None) -> None:
    """What is there now, and how to look at it; nothing when no trace was asked for."""
    from eitherway.recording.layout import BLOCK_HEADER, TABLES, BlockType
    from eitherway.recording.read import Recording

    if path is None:
        return
    with Recording.open(path, incomplete=True) as recording:
        streams = {entry.name: entry for entry in recording.manifest.streams}
        whole = recording.manifest.complete
    size = sum(entry.size for entry in streams.values())
    if whole:
        events = streams["events.blocks"]
        payload = events.size - events.blocks * BLOCK_HEADER.size
        count = payload // TABLES[BlockType.THREAD_EVENTS].itemsize
        say(f"traced {count:,} operations, {size:,} bytes, in {path}")
    else:
        say(f"the program was killed before its trace was whole; what there is lies in {path}")
    part = "" if whole else " --incomplete"
    say(f"next: eitherway report --trace {path}{part}, or eitherway races {path}{part}")
