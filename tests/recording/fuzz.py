# SPDX-License-Identifier: Apache-2.0
"""Feeds spoilt recordings to the readers: `python -m tests.recording.fuzz --count 100000`.

Each outcome is a good result or a `BadInput` with a message. Anything else, a hang or a growing
memory is a bug; the recording that shows it is left in the corpus. Deterministic by seed.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from tests.recording import samples
from tests.recording.whole import check

from eitherway.errors import BadInput
from eitherway.recording.layout import BLOCK_HEADER, MAX_RECORD, BlockType
from eitherway.recording.read import Recording
from eitherway.recording.trace import read_trace, write_trace
from eitherway.recording.write import RecordingWriter
from eitherway.worlds.threads.events import Events, is_trace, parts
from eitherway.worlds.threads.named import trace_of
from eitherway.worlds.threads.trace_hash import trace_hash

CORPUS = Path(__file__).with_name("corpus")
PATIENCE = 300  # seconds for one recording of a few KB; only a hang takes that long
EXTREMES = (0, 1, 2, 7, 8, 255, 256, 2**16 - 1, 2**20, 2**20 + 1, 2**31, 2**32 - 2, 2**32 - 1)
ODDITIES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**63, 2**70, 1.5, 1e400, "", "x", "../x", "\ud800", "trace.blocks",
    [], {}, [[]], ["strings"], {"": None}, "9" * 50,
)  # fmt: skip

Files = dict[str, bytes]
Mutation = Callable[[Files, random.Random], None]


def seeds(place: Path) -> list[Files]:
    """Good recordings to start from."""
    samples.write_sample(place / "small", block_bytes=MAX_RECORD, operations=12)
    samples.write_sample(place / "large", block_bytes=4096, operations=40)
    write_trace(place / "random", samples.random_trace(3, 30), samples.MANIFEST)
    writer = RecordingWriter(place / "begun", samples.MANIFEST, block_bytes=MAX_RECORD)
    samples.fill_sample(writer, operations=12)
    writer.abandon()
    with RecordingWriter(place / "run", samples.MANIFEST, block_bytes=MAX_RECORD) as only:
        only.stream("run").rows(BlockType.CHOICES, samples.CHOICES)
        only.stream("run").input(1, 0, bytes(300))
    samples.write_thread_events(place / "traced", events=30)
    samples.write_thread_events(place / "valued", events=9, values=True)
    return [
        {file.name: file.read_bytes() for file in path.iterdir()}
        for path in sorted(place.iterdir())
    ]


# ---------------------------------------------------------------- mutations of any file


def flip(files: Files, dice: random.Random) -> None:
    """A few bits."""
    name = dice.choice(sorted(files))
    data = bytearray(files[name])
    for _ in range(dice.choice((1, 1, 1, 2, 8))):
        if data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    files[name] = bytes(data)


def cut(files: Files, dice: random.Random) -> None:
    """The end of a file, or more of it."""
    name = dice.choice(sorted(files))
    files[name] = files[name][: dice.randrange(len(files[name]) + 1)]


def extend(files: Files, dice: random.Random) -> None:
    """Bytes behind the end."""
    name = dice.choice(sorted(files))
    files[name] += dice.choice((bytes(dice.randrange(99)), dice.randbytes(dice.randrange(99))))


def splice(files: Files, dice: random.Random) -> None:
    """A piece of one file into another."""
    source, target = dice.choice(sorted(files)), dice.choice(sorted(files))
    start = dice.randrange(len(files[source]) + 1)
    piece = files[source][start : start + dice.randrange(200)]
    at = dice.randrange(len(files[target]) + 1)
    over = dice.choice((0, len(piece)))
    files[target] = files[target][:at] + piece + files[target][at + over :]


def lose(files: Files, dice: random.Random) -> None:
    """A file, or its place."""
    name, other = dice.choice(sorted(files)), dice.choice(sorted(files))
    data = files.pop(name)
    if dice.random() < 0.5:
        files[other] = data


# ---------------------------------------------------------------- mutations of streams


def split(data: bytes) -> list[bytes]:
    """The blocks of a stream; what does not parse is one last piece."""
    pieces = []
    while len(data) >= BLOCK_HEADER.size:
        end = BLOCK_HEADER.size + struct.unpack_from("<I", data, 16)[0]
        pieces.append(data[:end])
        data = data[end:]
    return [*pieces, data] if data else pieces


def seal(block: bytes, number: int | None = None) -> bytes:
    """With a right checksum, and the right number when given."""
    if len(block) < BLOCK_HEADER.size:
        return block
    head = bytearray(block[:20])
    if number is not None:
        struct.pack_into("<I", head, 8, number)
    crc = zlib.crc32(block[BLOCK_HEADER.size :], zlib.crc32(head))
    return bytes(head) + struct.pack("<I", crc) + block[BLOCK_HEADER.size :]


def stream_of(files: Files, dice: random.Random) -> str | None:
    """Some stream that has a block."""
    names = [name for name in sorted(files) if name.endswith(".blocks") and len(files[name]) > 24]
    return dice.choice(names) if names else None


def lie(files: Files, dice: random.Random) -> None:
    """A field of a block's header."""
    if name := stream_of(files, dice):
        blocks = split(files[name])
        which = dice.randrange(len(blocks))
        if len(blocks[which]) >= BLOCK_HEADER.size:
            block = bytearray(blocks[which])
            offset, form = dice.choice(((4, "<H"), (6, "<H"), (8, "<I"), (12, "<I"), (16, "<I")))
            value = dice.choice((*EXTREMES, *range(1, 40)))
            struct.pack_into(form, block, offset, value & (0xFFFF if form == "<H" else 2**32 - 1))
            blocks[which] = seal(bytes(block)) if dice.random() < 0.8 else bytes(block)
        files[name] = b"".join(blocks)


def misdirect(files: Files, dice: random.Random) -> None:
    """A number in a payload, under a right checksum."""
    if name := stream_of(files, dice):
        blocks = split(files[name])
        which = dice.randrange(len(blocks))
        block = bytearray(blocks[which])
        if len(block) >= BLOCK_HEADER.size + 4:
            at = BLOCK_HEADER.size + dice.randrange((len(block) - BLOCK_HEADER.size) // 4) * 4
            struct.pack_into("<I", block, at, dice.choice((*EXTREMES, *range(30))))
            blocks[which] = seal(bytes(block))
        files[name] = b"".join(blocks)


def shuffle(files: Files, dice: random.Random) -> None:
    """Blocks repeated, dropped, swapped or moved to another stream; numbered anew or not."""
    name, other = stream_of(files, dice), stream_of(files, dice)
    if name is None or other is None:
        return
    blocks = split(files[name])
    one, two = dice.randrange(len(blocks)), dice.randrange(len(blocks))
    what = dice.randrange(4)
    if what == 0:
        blocks.insert(two, blocks[one])
    elif what == 1:
        del blocks[one]
    elif what == 2:
        blocks[one], blocks[two] = blocks[two], blocks[one]
    else:
        files[other] += blocks[one]
    if dice.random() < 0.8:
        blocks = [seal(block, number) for number, block in enumerate(blocks)]
    files[name] = b"".join(blocks)


# ---------------------------------------------------------------- mutations of the manifest


def alter_manifest(files: Files, dice: random.Random) -> None:
    """A value, a key, or an item."""
    name = next((name for name in ("MANIFEST", "MANIFEST.begun") if name in files), None)
    if name is None:
        return
    try:
        root = json.loads(files[name])
    except ValueError:
        return
    node = root
    while isinstance(node, dict | list) and node:
        key: Any = dice.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if dice.random() < 0.5 or not isinstance(node[key], dict | list):
            _alter(node, key, dice)
            break
        node = node[key]
    files[name] = json.dumps(root).encode()


def _alter(node: Any, key: Any, dice: random.Random) -> None:
    what = dice.randrange(4)
    if what == 0:
        del node[key]
    elif what == 1 and isinstance(node[key], int):
        node[key] += dice.choice((-1, 1, 2**31))
    elif what == 2:
        node[key] = [node[key]] * 3
    else:
        node[key] = dice.choice(ODDITIES)


def repair(files: Files, _dice: random.Random) -> None:
    """Makes the manifest agree with the streams, so that what lies deeper is reached."""
    try:
        manifest = json.loads(files["MANIFEST"])
        for entry in manifest["streams"]:
            blocks = split(files[entry["name"]])
            types = {struct.unpack_from("<H", block, 4)[0] for block in blocks}
            known = [kind.name.lower() for kind in BlockType if kind in types]
            crcs = b"".join(block[20:24] for block in blocks)
            size = len(files[entry["name"]])
            entry.update(size=size, blocks=len(blocks), crc=zlib.crc32(crcs), holds=known)
        files["MANIFEST"] = json.dumps(manifest).encode()
    except (ValueError, KeyError, TypeError, AttributeError, struct.error):
        return


MUTATIONS: tuple[Mutation, ...] = (
    flip, cut, extend, splice, lose, lie, lie, misdirect, misdirect, shuffle, shuffle,
    alter_manifest, alter_manifest,
)  # fmt: skip


def spoil(good: Files, dice: random.Random) -> Files:
    """A recording with one to three things wrong, half of the time under a right manifest."""
    files = dict(good)
    for _ in range(dice.choice((1, 1, 2, 3))):
        if files:
            dice.choice(MUTATIONS)(files, dice)
    if dice.random() < 0.5:
        repair(files, dice)
    return files


def lay_out(files: Files, path: Path, dice: random.Random) -> None:
    """The files on disk; now and then one is something else than a file."""
    path.mkdir()
    for name, data in files.items():
        place = path / name
        what = dice.randrange(400)
        if what == 0:
            os.mkfifo(place)
        elif what == 1:
            place.symlink_to(dice.choice(("/dev/zero", "/etc/passwd", name, "MANIFEST")))
        elif what == 2:
            place.mkdir()
        else:
            place.write_bytes(data)


# ---------------------------------------------------------------- one experiment


def outcome(path: Path) -> str:
    """What the readers make of a recording: good, or the refusals with and without --incomplete."""
    return " / ".join(_outcome(path, incomplete=incomplete) for incomplete in (False, True))


def _outcome(path: Path, *, incomplete: bool) -> str:
    try:
        check(path, incomplete=incomplete)
        with Recording.open(path, incomplete=incomplete) as recording:
            if is_trace(recording):
                return _of_events(recording)
            trace = read_trace(recording)
    except BadInput as refusal:
        return _kind(refusal, path)
    for actor in range(len(trace.actors)):
        trace.actor(actor)
    for number in range(len(trace)):
        trace.operation(number)
    return "good"


def _of_events(recording: Recording) -> str:
    """Read whole and part by part, it is the same; a trace can be made of it, and a hash."""
    whole = Events.read(recording)
    pieces = list(parts(recording, whole.names))
    assert sum(len(piece.events) for piece in pieces) == len(whole.events)
    assert len(trace_of(replace(whole, names=replace(whole.names, modules=())))) == len(
        whole.events
    )
    if not recording.incomplete:
        assert trace_hash(recording.path)
    return "good"


def _kind(refusal: BadInput, path: Path) -> str:
    assert refusal.message
    assert refusal.message.isprintable()
    words = refusal.message.replace(str(path), "").split(":")[-1].split()
    return " ".join(word for word in words if word.isalpha())


class Fuzzer:
    """Numbered experiments: the same number gives the same recording everywhere."""

    def __init__(self, seed: int, place: Path, *, keep: Path) -> None:
        self.seed = seed
        self.place = place
        self.keep = keep
        (place / "seeds").mkdir()
        self.good = seeds(place / "seeds")
        self.outcomes: Counter[str] = Counter()
        self.slowest = 0.0
        signal.signal(signal.SIGALRM, _too_long)

    def run(self, number: int) -> None:
        """Makes and reads one spoilt recording."""
        dice = random.Random(f"{self.seed}/{number}")  # noqa: S311  not for secrets
        path = self.place / "spoilt"
        lay_out(spoil(dice.choice(self.good), dice), path, dice)
        began = time.monotonic()
        signal.alarm(PATIENCE)
        try:
            self.outcomes[outcome(path)] += 1
        except BaseException:
            self._keep(path, number)
            raise
        finally:
            signal.alarm(0)
        self.slowest = max(self.slowest, time.monotonic() - began)
        shutil.rmtree(path)

    def _keep(self, path: Path, number: int) -> None:
        shutil.copytree(path, self.keep / f"seed-{self.seed}-{number}", symlinks=True)
        print(f"experiment {number} of seed {self.seed} failed", file=sys.stderr)


def _too_long(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"one recording took more than {PATIENCE} s")


def peak_memory() -> int:
    """Of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """As many experiments as asked for, and what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        fuzzer = Fuzzer(arguments.seed, Path(place), keep=CORPUS)
        before, began = peak_memory(), time.monotonic()
        for number in range(arguments.count):
            fuzzer.run(number)
        seconds = time.monotonic() - began
    for what, count in fuzzer.outcomes.most_common(40):
        print(f"{count:8} {what}")
    grown = (peak_memory() - before) / 1e6
    print(
        f"{arguments.count} recordings, {len(fuzzer.outcomes)} outcomes, {seconds:.0f} s; "
        f"slowest {fuzzer.slowest * 1000:.0f} ms; peak memory grew by {grown:.0f} MB"
    )


if __name__ == "__main__":
    main()
