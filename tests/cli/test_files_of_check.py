# SPDX-License-Identifier: Apache-2.0
"""Files and numbers that are none: `check` says which and what is wrong, and runs nothing."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.test_output import as_anybody

from eitherway.cli.main import main
from eitherway.errors import Exit

NO_SUPPRESSION = "is no suppression; a line is one of race:, race_top:, "
NO_BASELINE = "a baseline file begins with 'eitherway-baseline 1'"
LOOP = "cannot be read: Too many levels of symbolic links"

Checked = Callable[[str, str], tuple[int, str]]


@pytest.fixture
def checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Checked:
    """The exit code of a check with a file of its name, and what it says.

    The program is not there: whatever is said of the file is said before that is looked at.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")

    def check(option: str, name: str) -> tuple[int, str]:
        code = main(["check", option, name, "--", "./not-there"])
        return code, capsys.readouterr().err

    return check


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"# right\nrace:known\nrase:typo\n", f"file:3: 'rase:typo' {NO_SUPPRESSION}"),
        (b"race:a\n\n\nno colon\n", f"file:4: 'no colon' {NO_SUPPRESSION}"),
        (b"race:*\n", "file:1: 'race:*' would match everything; name something"),
        (b"deadlock:^$\n", "file:1: 'deadlock:^$' would match everything; name something"),
        (b"race:a\n\x7fELF\x02\xff\n", "file:2: is not UTF-8 text"),
        (b"race:a\nrace:\x1b[31mred\n\x1b[2J\n", f"file:3: '\\x1b[2J' {NO_SUPPRESSION}"),
        (b'{"tool": {"name"', f'file:1: \'{{"tool": {{"name"\' {NO_SUPPRESSION}'),
    ],
)
def test_suppressions_with_errors(checked: Checked, content: bytes, words: str) -> None:
    Path("file").write_bytes(content)
    code, said = checked("--suppressions", "file")
    assert code == Exit.BAD_INPUT
    assert words in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", f"file:1: {NO_BASELINE}"),
        (b"# only this\n", f"file:1: {NO_BASELINE}"),
        (b"\n\nrace:known\n", f"file:3: {NO_BASELINE}"),
        (b"eitherway-baseline 2\n", "file:1: baseline version '2'; this tool knows 1"),
        (b"eitherway-baseline\n", "file:1: baseline version ''; this tool knows 1"),
        (b"eitherway-baseline 1\n\nEW-0123 x\n", "file:3: 'EW-0123 x' does not begin with a"),
        (b"eitherway-baseline 1\nEW-0123456789abcdefg\n", "file:2: 'EW-0123456789abcdefg' does"),
        (b"eitherway-baseline 1\n\xff\n", "file:2: is not UTF-8 text"),
        (b'{"tool": {"name": "eitherw', f"file:1: {NO_BASELINE}"),
    ],
)
def test_baselines_with_errors(checked: Checked, content: bytes, words: str) -> None:
    Path("file").write_bytes(content)
    code, said = checked("--baseline", "file")
    assert code == Exit.BAD_INPUT
    assert words in said


@pytest.mark.parametrize("option", ["--suppressions", "--baseline"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "missing cannot be read: No such file or directory"),
        ("folder", "folder cannot be read: Is a directory"),
        ("loop", f"loop {LOOP}"),
        ("/dev/zero", "/dev/zero cannot be read: Is a device"),
        ("folder/x/y", "folder/x/y cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_read(checked: Checked, option: str, name: str, words: str) -> None:
    code, said = checked(option, name)
    assert (code, words in said) == (Exit.BAD_INPUT, True)


@pytest.mark.parametrize("option", ["--suppressions", "--baseline"])
def test_what_one_may_not_read(tmp_path: Path, option: str) -> None:
    (tmp_path / "secret").write_text("race:a\n", encoding="utf-8")
    (tmp_path / "secret").chmod(0)
    done = as_anybody("check", option, "secret", "--", "./not-there", cwd=tmp_path)
    assert done.returncode == Exit.BAD_INPUT
    assert "secret cannot be read: Permission denied" in done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder", "folder cannot be written: Is a directory"),
        ("loop", "loop cannot be written: Too many levels of symbolic links"),
        ("missing/x", "missing/x cannot be written: No such file or directory"),
    ],
)
def test_a_baseline_that_could_not_be_written(checked: Checked, name: str, words: str) -> None:
    code, said = checked("--write-baseline", name)
    assert (code, words in said) == (Exit.USAGE, True)


def test_no_suppressions_at_all_are_right(checked: Checked) -> None:
    Path("file").write_text("# nothing yet\n\n", encoding="utf-8")
    code, said = checked("--suppressions", "file")
    assert (code, "not-there does not exist" in said) == (Exit.USAGE, True)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--jobs", "0", "'0': at least 1 is needed"),
        ("--jobs", "1000", "'1000' is not a number of jobs (0 to 256)"),
        ("--schedules", "-5", "'-5' is not a count"),
        ("--seconds", "nan", "'nan' is no number of seconds above 0"),
        ("--seed", "9223372036854775808", "'9223372036854775808' is not a seed"),
    ],
)
def test_numbers_that_do_not_fit(checked: Checked, option: str, value: str, words: str) -> None:
    code, said = checked(option, value)
    assert code == Exit.USAGE
    assert f"argument {option}: {words}" in said
