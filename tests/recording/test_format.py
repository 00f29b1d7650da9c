# SPDX-License-Identifier: Apache-2.0
"""The description, what is generated from it, and the model agree."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from format import description, generate, to_c

from eitherway.model import trace as model
from eitherway.recording import layout
from eitherway.recording.layout import BlockType

ROOT = Path(__file__).parents[2]


def test_what_is_checked_in_is_what_the_generator_writes() -> None:
    assert generate.stale(generate.generated()) == []


def test_the_generator_says_which_files_are_stale(tmp_path: Path) -> None:
    files = {tmp_path / "same": "x", tmp_path / "other": "x", tmp_path / "missing": "x"}
    (tmp_path / "same").write_text("x")
    (tmp_path / "other").write_text("y")
    assert generate.stale(files) == [tmp_path / "other", tmp_path / "missing"]


def test_the_generator_runs_as_a_script() -> None:
    command = [sys.executable, "format/generate.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (BlockType.ACTORS, model.ACTOR),
        (BlockType.OBJECTS, model.OBJECT),
        (BlockType.RANGES, model.RANGE),
        (BlockType.PLACES, model.PLACE),
        (BlockType.STACKS, model.STACK),
        (BlockType.OPERATIONS, model.OPERATION),
        (BlockType.VALUES, model.VALUE),
        (BlockType.EDGES, model.EDGE),
    ],
)
def test_a_record_is_a_row_of_the_model(kind: BlockType, dtype: np.dtype[np.void]) -> None:
    assert layout.TABLES[kind] == dtype


def test_every_block_type_has_a_layout() -> None:
    assert {*layout.TABLES, *layout.HEADS} == set(BlockType)
    assert not layout.TABLES.keys() & layout.HEADS.keys()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler; Debian: apt install gcc")
@pytest.mark.parametrize(("last", "compiles"), [(63, True), (64, False)])
def test_a_block_type_without_its_bit_does_not_compile(
    tmp_path: Path, last: int, compiles: bool
) -> None:
    text = description.SOURCE.read_text(encoding="utf-8")
    today = f"number = {int(max(BlockType))}\n"
    assert text.count(today) == 1
    (tmp_path / "far.toml").write_text(text.replace(today, f"number = {last}\n"), encoding="utf-8")
    header = tmp_path / "eitherway_format.h"
    header.write_text(to_c.render(description.read(tmp_path / "far.toml")), encoding="utf-8")
    command = ["cc", "-fsyntax-only", "-include", str(header), "native/recording/stream.c"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == compiles, done.stderr
    assert compiles or "holds has a bit per block type" in done.stderr


def test_no_record_is_larger_than_the_smallest_block() -> None:
    sizes = [dtype.itemsize for dtype in layout.TABLES.values()]
    sizes += [head.size for head in layout.HEADS.values()]
    assert max(sizes) == layout.MAX_RECORD


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("size = 24\nfields", "size = 28\nfields", "says 28"),
        ('name = "lo", type = "u64"', 'name = "lo", type = "u32"', "bytes of fields"),
        ("number = 2\n", "number = 1\n", "same number"),
        ('record = "actor"', 'record = "nobody"', "not described"),
        ('record = "actor"', 'record = "actor"\ntail = true', "does not end with a length"),
        ("[message.stop]\nnumber = 4", "[message.stop]\nnumber = 5000", "outside of every range"),
    ],
)
def test_a_description_that_contradicts_itself_is_refused(
    tmp_path: Path, before: str, after: str, reason: str
) -> None:
    text = description.SOURCE.read_text(encoding="utf-8")
    assert before in text
    (tmp_path / "wrong.toml").write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(description.DescriptionError, match=reason):
        description.read(tmp_path / "wrong.toml")
