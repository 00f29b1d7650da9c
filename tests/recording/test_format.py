# SPDX-License-Identifier: Apache-2.0
"""The description, what is generated from it, and the model agree."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from format import description, generate

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
