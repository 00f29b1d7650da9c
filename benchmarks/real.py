# SPDX-License-Identifier: Apache-2.0
"""What `check` finds in real programs, run as a user would: docs/real-programs.md tells of it.

Each case is one command line. What it found goes to `build/benchmarks/real/CASE.json`, which
`eitherway report` shows; the table says how much was tried.
"""

import argparse
import bz2
import getpass
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.running import workplace
from benchmarks.sources import BARE, CACHE, OURS, Kit, small_program
from benchmarks.subjects.leveldb import LevelDb
from benchmarks.subjects.memcached import Memcached
from benchmarks.subjects.pbzip2 import Pbzip2
from benchmarks.subjects.redis import Redis
from benchmarks.subjects.sqlite import Sqlite
from benchmarks.subjects.text import text
from benchmarks.subjects.xz import Xz, XzReleased
from benchmarks.subjects.zstd import Zstd

from eitherway.errors import UsageError
from eitherway.model.document import read_document
from eitherway.model.finding import Document

RESULTS = CACHE / "real"
SECONDS = 60.0
PORT = 11211  # in a network of its own
_CHECKED = (0, 1)  # exit codes of a check that ran

Make = Callable[[Path], None]  # files that a case needs, in its folder


@dataclass(frozen=True, slots=True)
class Case:
    """A program and what it is to do."""

    name: str
    build: Callable[[Kit], Path]
    words: str  # its arguments
    make: Make
    driver: Callable[[], str] | None = None


# --- what they are given


def _plain(folder: Path) -> None:
    (folder / "text").write_bytes(text(10_000).read_bytes())


def _runs(folder: Path) -> None:
    """Two blocks of bzip2's, which cost little."""
    (folder / "text").write_bytes(text(1_001, run=200).read_bytes())


def _large(folder: Path) -> None:
    """zstd gives each thread half a megabyte at least."""
    (folder / "text").write_bytes(text(10_000, run=200).read_bytes())


def _streams(folder: Path) -> None:
    whole = text(10_000).read_bytes()
    parts = [whole[at : at + 2_500] for at in range(0, len(whole), 2_500)]
    (folder / "text.bz2").write_bytes(b"".join(map(bz2.compress, parts)))


def _blocks(folder: Path, letters: int = 10_000, block: int = 2_000) -> None:
    (folder / "text").write_bytes(text(letters).read_bytes())
    command = [str(Xz().build(BARE)), "-2", "-T2", f"--block-size={block}", "text"]
    subprocess.run(command, cwd=folder, check=True)


def _broken(folder: Path) -> None:
    """A letter of the first block is another one; it takes two reads to have the whole block."""
    _blocks(folder, letters=100_000, block=40_000)
    file = folder / "text.xz"
    data = bytearray(file.read_bytes())
    data[2_000] ^= 0x55
    file.write_bytes(data)


def _nothing(_: Path) -> None:
    pass


# --- who asks the servers


def _memcached_load() -> str:
    return f"{small_program('memcached_load', BARE)} port 100 4"


def _redis_load() -> str:
    """Some of what its other threads do: connections, freeing in the background."""
    bench, cli = (Redis().client(name) for name in ("redis-benchmark", "redis-cli"))
    load = f"{bench} -p {PORT} -q -c 4 -n 60 -t set,get,lpush -d 64"
    tell = " ".join(f"&& {cli} -p {PORT} {words}" for words in _TOLD)
    return f"sh -c '{load} {tell}'"


_TOLD = ("unlink mylist", "config set appendfsync always", "flushall async", "info")

_MEMCACHED = f"-u {getpass.getuser()} -l 127.0.0.1 -p -1 -A -U 0 -t 4 -m 64 -c 256"
_REDIS = (
    f"--port {PORT} --io-threads 2 --io-threads-do-reads yes --appendonly yes --save 3600:1 "
    "--daemonize no"
)

CASES = (
    Case("pbzip2", Pbzip2().build, "-c -k -p4 -b1 text", _runs),
    Case("pbzip2-d", Pbzip2().build, "-d -c -k -p4 text.bz2", _streams),
    Case("xz", Xz().build, "-c -k -T4 -2 --block-size=2000 text", _plain),
    Case("xz-d", Xz().build, "-d -c -k -T4 text.xz", _blocks),
    Case("xz-released-d", XzReleased().build, "-d -c -k -T4 text.xz", _blocks),
    Case("xz-released-broken", XzReleased().build, "-d -c -k -T4 text.xz", _broken),
    Case("zstd", Zstd().build, "-T4 -B1 --fast=5 -c -k text", _large),
    Case("sqlite", Sqlite().build, "file.db 2", _nothing),
    Case("leveldb", LevelDb().build, "base 12", _nothing),
    Case("memcached", Memcached().build, _MEMCACHED, _nothing, _memcached_load),
    Case("redis", Redis().build, _REDIS, _nothing, _redis_load),
)
_READY = {"memcached": ("file:port", "exit"), "redis": (f"port:{PORT}", "signal:TERM")}


# --- running


def checked(case: Case, options: argparse.Namespace) -> tuple[float, Document]:
    """One case: seconds, and what was told."""
    kit = OURS
    if options.level != OURS.flags[-1]:
        kit = replace(OURS, name=f"ours{options.level}", flags=("-g", options.level))
    told = RESULTS / f"{case.name}{options.level}.json"
    with workplace() as folder:
        case.make(folder)
        words = [str(kit.cc[0]), "check", "--json", str(told), *_asked(case, options)]
        words += ["--", str(case.build(kit)), *case.words.split()]
        environment = {**os.environ, "MEMCACHED_PORT_FILENAME": str(folder / "port")}
        progress(" ".join(words))
        since = monotonic()
        run = subprocess.run(
            words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        taken = monotonic() - since
    if run.returncode not in _CHECKED:
        raise SystemExit(f"{case.name}: check ended with {run.returncode}")
    return taken, read_document(told.read_text(encoding="utf-8"))


def _asked(case: Case, options: argparse.Namespace) -> list[str]:
    asked = ["--seconds", str(options.seconds), "--seed", str(options.seed)]
    if case.driver:
        ready, stop = _READY[case.name]
        asked += ["--driver", case.driver(), "--ready", ready, "--stop", stop]
    return asked


def row_of(case: Case, taken: float, document: Document) -> list[str]:
    """Of the table."""
    notes = "\n".join(document.summary.notes)
    schedules, different = _numbers(r"([\d,]+) schedules?, ([\d,]+) of them different", notes)
    both, pairs = _numbers(r"([\d,]+) of ([\d,]+) pairs", notes)
    found = str(len(document.findings))
    return [case.name, f"{taken:.0f}", schedules, different, f"{both} of {pairs}", found]


def _numbers(pattern: str, words: str) -> Sequence[str]:
    found = re.search(pattern, words)
    return found.groups() if found else ("0", "0")


def main() -> None:
    """All of them, or some."""
    parser = arguments(__doc__ or "")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"each ({SECONDS:g})")
    parser.add_argument("--seed", type=int, default=0, help="(default: 0)")
    parser.add_argument("--level", default="-O1", help="of optimisation (default: -O1)")
    options = parser.parse_args()
    every = {case.name: case for case in CASES}
    if unknown := sorted(set(options.cases) - every.keys()):
        raise UsageError(f"there is no case {unknown[0]}; there are {', '.join(every)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    watch = Watch()
    chosen = [every[name] for name in options.cases or every]
    rows = [row_of(case, *checked(case, options)) for case in chosen]
    head = ["program", "s", "schedules", "different", "pairs in both orders", "findings"]
    published(f"{watch.told()}\n\n{table(head, rows)}", "real programs", options.write)


if __name__ == "__main__":
    started(main)
