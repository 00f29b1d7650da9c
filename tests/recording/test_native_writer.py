# SPDX-License-Identifier: Apache-2.0
"""The C side writes what the Python side writes, and each reads the other; under sanitizers."""

import os
import random
import re
import shutil
import signal
import subprocess
import zlib
from pathlib import Path

import pytest
from tests.recording import samples
from tests.recording.whole import check

from eitherway.errors import BadInput
from eitherway.recording.blocks import BlockFile
from eitherway.recording.layout import MAX_PAYLOAD, MAX_RECORD
from eitherway.recording.read import Recording
from eitherway.recording.trace import read_trace

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "native" / "recording"
PROGRAMS = ROOT / "tests" / "native_recording"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
ALLOWED = {"memcpy", "memmove", "memset", "memcmp"}  # a compiler calls these without being asked
ENDS = {0: "", -1001: "truncated", -1002: "damaged", -1003: "unknown", -1004: "malformed"}

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler; Debian: apt install gcc")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of tests/native_recording/, built with sanitizers."""
    place = tmp_path_factory.mktemp("programs")
    sources = sorted(LIBRARY.glob("*.c"))
    for program in PROGRAMS.glob("*.c"):
        output = place / program.stem
        flags = [*STRICT[:4], "-Werror", *SANITIZE, f"-I{LIBRARY}"]
        run("cc", *flags, program, *sources, "-o", output)
    return place


def run(*command: str | Path, status: int = 0) -> str:
    """What a command prints; it ends with this status."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


def contents(path: Path) -> dict[str, bytes]:
    """The files of a recording."""
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.mark.parametrize("block_bytes", [MAX_RECORD, 121, 256, 4096, MAX_PAYLOAD])
def test_both_sides_write_the_same_bytes(programs: Path, tmp_path: Path, block_bytes: int) -> None:
    run(programs / "write_sample", tmp_path / "c", str(block_bytes))
    samples.write_sample(tmp_path / "python", block_bytes=block_bytes)
    assert contents(tmp_path / "c") == contents(tmp_path / "python")


@pytest.mark.parametrize("start", [0, 1, 15])
def test_checksums_are_those_of_zlib(programs: Path, start: int) -> None:
    data = random.Random(start).randbytes(8192)  # noqa: S311  the same every time
    told = subprocess.run(
        [programs / "sum_up", str(start), "700"], input=data, capture_output=True, check=True
    )
    sums = [zlib.crc32(data[start : start + length], length) for length in range(701)]
    assert list(map(int, told.stdout.split())) == sums


def test_python_reads_what_c_wrote(programs: Path, tmp_path: Path) -> None:
    run(programs / "write_sample", tmp_path / "c", "256")
    check(tmp_path / "c")
    with Recording.open(tmp_path / "c") as recording:
        samples.assert_same(read_trace(recording), samples.sample_trace())
        assert [entry.data for entry in recording.inputs()] == [samples.INPUT, b""]
    assert {oct(file.stat().st_mode) for file in (tmp_path / "c").iterdir()} == {"0o100600"}


@pytest.mark.parametrize("block_bytes", [121, 5000])
def test_c_reads_what_python_wrote(programs: Path, tmp_path: Path, block_bytes: int) -> None:
    """It writes every record it read again, and gets the same file."""
    samples.write_sample(tmp_path / "r", block_bytes=block_bytes)
    file = tmp_path / "r" / "trace.blocks"
    run(programs / "copy_stream", file, tmp_path / "copy", str(block_bytes))
    assert (tmp_path / "copy").read_bytes() == file.read_bytes()


def test_a_killed_c_recorder_leaves_an_incomplete_recording(programs: Path, tmp_path: Path) -> None:
    run(programs / "write_sample", tmp_path / "r", "256", "kill", status=-signal.SIGKILL)
    with pytest.raises(BadInput, match="is incomplete"):
        Recording.open(tmp_path / "r")
    with Recording.open(tmp_path / "r", incomplete=True) as recording:
        assert len(read_trace(recording)) == samples.OPERATIONS - samples.OPERATIONS % 16
        assert recording.manifest == samples.MANIFEST


def test_an_error_of_the_file_stays(programs: Path) -> None:
    run(programs / "write_fails")


def python_verdict(file: Path) -> tuple[int, str]:
    """How many whole blocks Python finds in a stream, and why it stops."""
    blocks = 0
    descriptor = os.open(file, os.O_RDONLY)
    try:
        for _ in BlockFile(descriptor, file.stat().st_size, file).blocks():
            blocks += 1
    except BadInput as error:
        found = re.search("truncated|not a stream|damaged|does not know|no sense", error.message)
        assert found
        words = {"not a stream": "damaged", "does not know": "unknown", "no sense": "malformed"}
        return blocks, words.get(found[0], found[0])
    finally:
        os.close(descriptor)
    return blocks, ""


def spoil(data: bytes, dice: random.Random) -> bytes:
    """A stream with a change, which half of the time has a right checksum."""
    spoilt = bytearray(data[: dice.choice([len(data), dice.randrange(len(data))])])
    at = dice.randrange(max(1, len(spoilt) - 1))
    spoilt[at : at + 1] = bytes([dice.randrange(256)])
    length = int.from_bytes(spoilt[16:20], "little")
    if dice.random() < 0.5 and at < 24 + length <= len(spoilt):
        crc = zlib.crc32(spoilt[24 : 24 + length], zlib.crc32(spoilt[:20]))
        spoilt[20:24] = crc.to_bytes(4, "little")
    return bytes(spoilt)


def test_both_readers_agree_about_spoilt_streams(programs: Path, tmp_path: Path) -> None:
    samples.write_sample(tmp_path / "r", block_bytes=MAX_RECORD, operations=8)
    dice = random.Random(1)  # noqa: S311  not for secrets
    good = [(tmp_path / "r" / name).read_bytes() for name in ("run.blocks", "trace.blocks")]
    files = []
    for number in range(1500):
        files.append(tmp_path / str(number))
        files[-1].write_bytes(spoil(dice.choice(good), dice))
    lines = run(programs / "read_streams", *files).splitlines()
    verdicts = [(int(count), ENDS[int(end)]) for count, end in map(str.split, lines)]
    seen = set()
    for file, (blocks, end) in zip(files, verdicts, strict=True):
        expected = python_verdict(file)
        seen.add(end)
        # Python looks into records with tails when they are asked for, C when the block is read.
        if end != "malformed":
            assert (blocks, end) == expected, file
    assert seen == set(ENDS.values())


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_compiles_without_a_warning_and_needs_next_to_nothing(
    tmp_path: Path, compiler: str
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    sources = sorted(LIBRARY.glob("*.c"))
    flags = [*STRICT, "-O2", "-ffreestanding", "-fno-stack-protector", "-fPIC", "-r", "-nostdlib"]
    run(compiler, *flags, *sources, "-o", tmp_path / "all.o")
    symbols = {line.split()[-1] for line in run("nm", "-u", tmp_path / "all.o").splitlines()}
    assert symbols - {"_GLOBAL_OFFSET_TABLE_"} <= ALLOWED
