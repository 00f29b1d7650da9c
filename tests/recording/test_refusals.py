# SPDX-License-Identifier: Apache-2.0
"""Each kind of bad directory, file or manifest is refused in its own words."""

import ctypes
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.recording import samples
from tests.recording.forge import edit_manifest, flip, refusal
from tests.recording.whole import check

from eitherway.errors import BadInput
from eitherway.recording.layout import MAX_STREAMS
from eitherway.recording.manifest import Manifest


def test_nothing_there(tmp_path: Path) -> None:
    assert "there is no recording at" in refusal(tmp_path / "nothing")
    assert "there is no recording at" in refusal("a\0b")


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "prog").write_bytes(b"\x7fELF\x02\x01")
    assert "is a file (an ELF file), and a recording is a directory" in refusal(tmp_path / "prog")
    (tmp_path / "note").write_text("hello")
    assert "is a file (bytes 68 65 6c 6c 6f)" in refusal(tmp_path / "note")
    assert "there is no recording at" in refusal(tmp_path / "note" / "below")


def test_an_empty_directory(tmp_path: Path) -> None:
    assert "is an empty directory" in refusal(tmp_path)


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:")
    assert "is not a recording: it has neither MANIFEST nor MANIFEST.begun" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON: Expecting value"),
        ("Manifest-Version: 1.0", "is not JSON: Expecting value"),
        ('{"format": "eitherway-rec', "is not JSON: Unterminated string"),
        ("[]", "is not JSON: it holds no object"),
        ("[" * 100_000, "is not JSON: nested too deeply"),
        ('{"a": NaN}', "is not JSON: NaN is no JSON"),
        ('{"a": 1, "a": 2}', "is not JSON: a key stands twice"),
        ('{"a": ' + "9" * 5000 + "}", "is not JSON: Exceeds the limit"),
        ('{"format": "perf"}', "is not of EitherWay: its format is 'perf'"),
        ('{"name": "left-pad"}', "is not of EitherWay: its format is None"),
    ],
)
def test_a_manifest_that_is_none(recording: Path, text: str, reason: str) -> None:
    (recording / "MANIFEST").write_text(text)
    assert reason in refusal(recording)


def test_a_manifest_that_is_not_utf8(recording: Path) -> None:
    (recording / "MANIFEST").write_bytes(b'{"format": "\xff\xff"}')
    assert "is not JSON" in refusal(recording)


def test_a_manifest_that_is_too_large(recording: Path) -> None:
    os.truncate(recording / "MANIFEST", 1 << 40)  # sparse: takes no space
    assert "has 1099511627776 bytes; at most 8388608 can be right" in refusal(recording)


@pytest.mark.parametrize("version", [[2, 0], [2, 7], [10**15, 0]])
def test_a_newer_version(recording: Path, version: list[int]) -> None:
    def newer(manifest: dict[str, Any]) -> dict[str, Any]:
        return {"format": manifest["format"], "version": version, "tool": "9.9.9"}

    edit_manifest(recording, newer)
    with pytest.raises(BadInput) as caught:
        check(recording)
    assert f"has format version {version[0]}.{version[1]}, written by EitherWay 9.9.9" in str(
        caught.value
    )
    assert "which reads up to 1.0" in str(caught.value)
    assert caught.value.fix == "pip install --upgrade eitherway"


def test_a_version_that_never_was(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(version=[0, 9]))
    assert "says format version 0, which never existed" in refusal(recording)


def test_a_newer_minor_version_is_read_as_long_as_all_is_known(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(version=[1, 9], mood="sunny"))
    assert check(recording).manifest.version == (1, 9)


@pytest.mark.parametrize("key", list(samples.MANIFEST.__slots__))
def test_a_key_that_is_missing_or_of_another_type(recording: Path, key: str) -> None:
    def without(manifest: dict[str, Any]) -> None:
        del manifest[key]

    good = (recording / "MANIFEST").read_bytes()
    edit_manifest(recording, without)
    message = refusal(recording)
    assert f"{key} is missing" in message or f"{key} is not [major, minor]" in message
    oddities: tuple[Any, ...] = (None, 3.5, {"x": []}, [[]])
    for wrong in oddities:
        changed = {**json.loads(good), key: wrong}
        (recording / "MANIFEST").write_text(json.dumps(changed))
        assert "is damaged" in refusal(recording)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "../trace.blocks"}, "name is not the name of a stream file"),
        ({"name": "/etc/passwd"}, "name is not the name of a stream file"),
        ({"name": "MANIFEST"}, "name is not the name of a stream file"),
        ({"name": "trace.blocks\n"}, "name is not the name of a stream file"),
        ({"size": -1}, "size is not an integer"),
        ({"size": True}, "size is not an integer"),
        ({"size": 2**64}, "size is not an integer"),
        ({"blocks": "3"}, "blocks is not an integer"),
        ({"holds": ["strings", "dreams"]}, "holds names unknown blocks: dreams"),
        ({"holds": ["choices"]}, "says that a block type stands in two of them"),
        ({"name": "run.blocks"}, "lists a file twice"),
        ({"colour": "red"}, "streams[0].colour is not a key of this version"),
    ],
)
def test_an_entry_that_makes_no_sense(recording: Path, change: dict[str, Any], reason: str) -> None:
    edit_manifest(recording, lambda manifest: manifest["streams"][0].update(change))
    assert reason in refusal(recording)


def test_too_many_streams(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(streams=manifest["streams"] * 40))
    assert f"lists more than {MAX_STREAMS} files" in refusal(recording)


def test_an_unknown_key_and_world(recording: Path) -> None:
    good = (recording / "MANIFEST").read_bytes()
    edit_manifest(recording, lambda manifest: manifest.update(colour="red"))
    assert "colour is not a key of this version" in refusal(recording)
    (recording / "MANIFEST").write_bytes(good)
    edit_manifest(recording, lambda manifest: manifest.update(world="dreams"))
    assert "world is none of threads, processes, kernel" in refusal(recording)


@pytest.mark.parametrize("name", ["MANIFEST", "run.blocks"])
def test_what_is_not_a_regular_file_is_not_opened(recording: Path, name: str) -> None:
    real = recording.parent / "outside"
    os.rename(recording / name, real)
    os.symlink(real, recording / name)
    assert "is a symbolic link, and a recording is made of regular files only" in refusal(recording)
    os.unlink(recording / name)
    os.mkfifo(recording / name)
    assert "is a FIFO" in refusal(recording)
    os.unlink(recording / name)
    os.mkdir(recording / name)
    assert "is a directory" in refusal(recording)


def test_what_is_not_a_directory_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "is a FIFO" in refusal(tmp_path / "fifo")
    assert "is a device" in refusal("/dev/null")


@contextmanager
def without_privilege() -> Iterator[None]:
    """Without root's right to read everything (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    assert libc.capget(header, before) == 0
    assert libc.capset(header, (ctypes.c_uint32 * 6)(before[0] & ~0b110, *before[1:])) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


@pytest.mark.parametrize("name", ["run.blocks", "MANIFEST", "."])
def test_what_may_not_be_read(recording: Path, name: str) -> None:
    mode = (recording / name).stat().st_mode
    (recording / name).chmod(0)
    with without_privilege():
        message = refusal(recording)
    (recording / name).chmod(mode)
    assert f"{(recording / name).name} cannot be read: Permission denied" in message


def test_a_name_with_control_characters_is_quoted(tmp_path: Path) -> None:
    message = refusal(tmp_path / "\x1b[31mred\n")
    assert "\\x1b[31mred\\n" in message


def test_a_path_is_never_cut_however_long(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a-long-name-of-a-folder"] * 20)
    deep.mkdir(parents=True)
    samples.write_sample(deep / "r", operations=4)
    flip(deep / "r" / "trace.blocks", 100)
    assert refusal(deep / "r").startswith(f"{deep}/r/trace.blocks is damaged: ")
    assert refusal(deep / "none") == f"there is no recording at {deep}/none"


def test_text_from_a_file_is_cut(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(format="x" * 1000))
    assert refusal(recording).endswith(f"its format is '{'x' * 79}...")


def test_the_manifest_of_an_unfinished_recording_as_manifest(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(complete=False))
    assert "is incomplete" in refusal(recording)


def test_everything_is_closed_again(recording: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    flip(recording / "trace.blocks", 100)
    for _ in range(20):
        refusal(recording)
        refusal(recording / "MANIFEST")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_manifest_of_our_own_making_is_good() -> None:
    assert Manifest(samples.MANIFEST.world, "test").to_bytes().isascii()
