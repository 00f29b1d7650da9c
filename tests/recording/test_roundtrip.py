# SPDX-License-Identifier: Apache-2.0
"""What is written is what is read."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recording import samples
from tests.recording.whole import check

from eitherway.errors import Unavailable
from eitherway.model.trace import Trace, TraceBuilder
from eitherway.model.words import World
from eitherway.recording.layout import BLOCK_HEADER, MAX_PAYLOAD, MAX_RECORD, BlockType
from eitherway.recording.manifest import Host, Manifest
from eitherway.recording.read import Input, Recording
from eitherway.recording.trace import read_trace, write_trace
from eitherway.recording.write import RecordingWriter


def _read(path: Path) -> Trace:
    with Recording.open(path) as recording:
        return read_trace(recording)


@pytest.mark.parametrize("block_bytes", [MAX_RECORD, MAX_RECORD + 1, 256, 4096, MAX_PAYLOAD])
def test_everything_comes_back(tmp_path: Path, block_bytes: int) -> None:
    samples.write_sample(tmp_path / "r", block_bytes=block_bytes)
    with Recording.open(tmp_path / "r") as recording:
        samples.assert_same(read_trace(recording), samples.sample_trace())
        np.testing.assert_array_equal(recording.choices(), samples.CHOICES)
        assert list(recording.inputs()) == [Input(7, 1, samples.INPUT), Input(8, 0, b"")]
        assert recording.metadata() == {"how": b"quickly"}
        assert recording.losses == ()
        written = replace(samples.MANIFEST, complete=True, streams=recording.manifest.streams)
        assert recording.manifest == written
    counts = check(tmp_path / "r").records
    assert counts[BlockType.OPERATIONS] == counts[BlockType.VALUES] == samples.OPERATIONS


@given(seed=st.integers(0, 2**32), operations=st.integers(0, 300), step=st.integers(40, 5000))
@settings(max_examples=60)
def test_any_trace_comes_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, operations: int, step: int
) -> None:
    path = tmp_path_factory.mktemp("any") / "r"
    trace = samples.random_trace(seed, operations)
    write_trace(path, trace, Manifest(World.THREADS, "test"))
    if trace.values is not None and not len(trace):
        trace = replace(trace, values=None)  # no values of no operations are not told apart
    samples.assert_same(_read(path), trace)


@given(strings=st.lists(st.binary(max_size=50), max_size=40))
@settings(max_examples=60)
def test_any_bytes_are_a_name(
    tmp_path_factory: pytest.TempPathFactory, strings: list[bytes]
) -> None:
    builder = TraceBuilder(World.PROCESSES)
    for name in strings:
        builder.string(os.fsdecode(name))
    trace = builder.build()
    path = tmp_path_factory.mktemp("names") / "r"
    write_trace(path, trace, Manifest(World.PROCESSES, "test"))
    assert _read(path).strings == trace.strings


@given(
    command=st.lists(st.text(max_size=20), max_size=5),
    build_ids=st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3),
    cpu=st.text(max_size=9),
)
@settings(max_examples=60)
def test_any_manifest_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    command: list[str],
    build_ids: dict[str, str],
    cpu: str,
) -> None:
    path = tmp_path_factory.mktemp("manifest") / "r"
    manifest = Manifest(
        World.KERNEL, "test", command=tuple(command), build_ids=build_ids, host=Host(cpu=cpu)
    )
    with RecordingWriter(path, manifest):
        pass
    with Recording.open(path) as recording:
        assert recording.manifest == replace(manifest, complete=True)


def test_rows_one_by_one_make_the_same_file_as_all_at_once(tmp_path: Path) -> None:
    trace = samples.sample_trace()
    for name, step in (("one", 1), ("all", len(trace))):
        with RecordingWriter(tmp_path / name, samples.MANIFEST, block_bytes=121) as writer:
            for start in range(0, len(trace), step):
                rows = trace.operations[start : start + step]
                writer.stream("trace").rows(BlockType.OPERATIONS, rows)
    one, all_ = (tmp_path / name / "trace.blocks" for name in ("one", "all"))
    assert one.read_bytes() == all_.read_bytes()


def test_gaps_between_columns_are_written_as_zeros(tmp_path: Path) -> None:
    trace = samples.sample_trace(8)
    dirty = np.frombuffer(bytearray(b"\xaa" * trace.operations.nbytes), trace.operations.dtype)
    for name in dirty.dtype.names or ():
        dirty[name] = trace.operations[name]
    with RecordingWriter(tmp_path / "r", samples.MANIFEST) as writer:
        writer.stream("trace").rows(BlockType.OPERATIONS, dirty)
    payload = (tmp_path / "r" / "trace.blocks").read_bytes()[BLOCK_HEADER.size :]
    assert b"\xaa" not in payload


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_nobody_else_may_read_it_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        samples.write_sample(tmp_path / "r", operations=10)
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "r").iterdir()}
    assert stat.S_IMODE((tmp_path / "r").stat().st_mode) == 0o700
    assert modes == dict.fromkeys(["MANIFEST", "run.blocks", "trace.blocks"], 0o600)


def test_tables_are_read_only(tmp_path: Path) -> None:
    samples.write_sample(tmp_path / "r")
    trace = _read(tmp_path / "r")
    with pytest.raises(ValueError, match="read-only"):
        trace.operations["actor"] = 1


def test_the_writer_checks_its_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="blocks of 39 bytes"):
        RecordingWriter(tmp_path / "small", samples.MANIFEST, block_bytes=39)
    with RecordingWriter(tmp_path / "r", samples.MANIFEST, block_bytes=MAX_RECORD) as writer:
        with pytest.raises(ValueError, match="cannot be a stream"):
            writer.stream("../evil")
        with pytest.raises(ValueError, match="operations have columns"):
            writer.stream("trace").rows(BlockType.OPERATIONS, samples.CHOICES)
        with pytest.raises(ValueError, match="does not fit in a block"):
            writer.stream("trace").strings(["x" * (MAX_RECORD - 3)])


def test_a_type_in_two_streams_is_refused_and_leaves_it_incomplete(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r", samples.MANIFEST)
    writer.stream("a").rows(BlockType.CHOICES, samples.CHOICES)
    writer.stream("b").rows(BlockType.CHOICES, samples.CHOICES)
    with pytest.raises(ValueError, match="choices were appended to two streams"):
        writer.finish()
    writer.close()
    assert not (tmp_path / "r" / "MANIFEST").exists()


def test_a_directory_with_something_in_it_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(Unavailable, match="File exists"):
        RecordingWriter(tmp_path, samples.MANIFEST)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_full_disk_is_told_and_leaves_it_incomplete(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: write fails in the middle of a block."""
    script = """
import resource, signal, sys
from pathlib import Path
from eitherway.errors import Unavailable
from tests.recording import samples
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    samples.write_sample(Path(sys.argv[1]))
except Unavailable as error:
    print(error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "r")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot write" in done.stdout
    assert "File too large" in done.stdout
    assert (tmp_path / "r" / "trace.blocks").stat().st_size == 20000
    with Recording.open(tmp_path / "r", incomplete=True) as recording:
        assert len(read_trace(recording)) > 0
        assert "truncated" in recording.losses[1]


def test_a_trace_that_does_not_fit_in_memory_is_this_machines_problem(tmp_path: Path) -> None:
    write_trace(tmp_path / "r", samples.random_trace(1, 1_500_000), samples.MANIFEST)
    script = """
import resource, sys
from pathlib import Path
from eitherway.errors import Unavailable
from eitherway.recording.read import Recording
from eitherway.recording.trace import read_trace
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (8 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    read_trace(Recording.open(sys.argv[1]))
except Unavailable as error:
    print(error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "r")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "do not fit in memory" in done.stdout


def test_the_manifest_is_plain_json(tmp_path: Path) -> None:
    samples.write_sample(tmp_path / "r")
    manifest = json.loads((tmp_path / "r" / "MANIFEST").read_bytes())
    assert manifest["format"] == "eitherway-recording"
    assert manifest["version"] == [1, 0]
    assert manifest["complete"] is True


def test_this_machine_has_facts() -> None:
    host = Host.here()
    assert host.kernel == os.uname().release
    assert host.machine == os.uname().machine
