# SPDX-License-Identifier: Apache-2.0
"""The frame of the command line: every ending is a message and an exit code."""

import errno
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from eitherway import __version__
from eitherway.cli import main as frame
from eitherway.errors import BadInput, Exit, Problem, Unavailable, UsageError


def eitherway(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


def test_version_and_help() -> None:
    assert eitherway("--version").stdout == f"eitherway {__version__}\n"
    shown = eitherway("--help")
    assert shown.returncode == 0
    for verb in frame.VERBS:
        assert f"  {verb} " in shown.stdout


def test_nothing_to_do_is_a_usage_error_that_helps() -> None:
    shown = eitherway()
    assert shown.returncode == Exit.USAGE
    assert "verbs:" in shown.stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["doctr"], "did you mean 'doctor'?"),
        (["frobnicate"], "there is no verb 'frobnicate'"),
        (["--frobnicate"], "there is no option '--frobnicate'"),
        (["demo", "--sead", "3"], "unrecognized arguments: --sead 3"),
        (["demo", "--see", "3"], "unrecognized arguments: --see 3"),
        (["demo", "--seed", "many"], "'many' is not a seed"),
        (["races", "--exitcode"], "expected one argument"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(typed: list[str], said: str) -> None:
    shown = eitherway(*typed)
    assert shown.returncode == Exit.USAGE
    assert shown.stdout == ""
    assert said in shown.stderr
    assert "Traceback" not in shown.stderr


# The arguments of cc and c++ belong to the compiler.
@pytest.mark.parametrize("verb", sorted(set(frame.VERBS) - {"cc", "c++"}))
def test_every_verb_explains_itself(verb: str) -> None:
    shown = eitherway(verb, "--help")
    assert shown.returncode == 0
    assert f"usage: eitherway {verb}" in shown.stdout


def run_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def fail(_: object) -> NoReturn:
        raise error

    verb = SimpleNamespace(HELP="", add_arguments=lambda _: None, run=fail)
    monkeypatch.setattr(frame, "_verb", lambda _: verb)
    return frame.main(["demo"])


@pytest.mark.parametrize(
    ("error", "code"), [(UsageError, 64), (BadInput, 65), (Unavailable, 69), (Problem, 70)]
)
def test_a_problem_is_three_lines(
    error: type[Problem],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    problem = error("it is so", fix="do this", instead="less of it")
    assert run_with(monkeypatch, problem) == code
    expected = "eitherway: it is so\n  try: do this\n  instead: less of it\n"
    assert capsys.readouterr().err == expected


def test_our_own_bug_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_with(monkeypatch, ZeroDivisionError("oops")) == Exit.OUR_BUG
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in shown
    assert "a bug in EitherWay" in shown


def test_control_c_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_with(monkeypatch, KeyboardInterrupt()) == 130


def test_too_little_memory_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_with(monkeypatch, MemoryError()) == Exit.UNAVAILABLE
    assert "Traceback" not in capsys.readouterr().err


def test_a_full_disk_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    assert run_with(monkeypatch, full) == Exit.UNAVAILABLE
    expected = "eitherway: this machine cannot go on: No space left on device\n"
    assert capsys.readouterr().err == expected
    assert run_with(monkeypatch, OSError(errno.EBADF, "x")) == Exit.OUR_BUG


def test_a_reader_that_goes_away_in_the_middle_ends_as_the_signal_would(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_with(monkeypatch, BrokenPipeError()) == 141
    assert capsys.readouterr().err == ""


def test_starting_needs_no_heavy_imports() -> None:
    code = (
        "import sys, eitherway.cli.main; print([m for m in ('numpy', 'rich') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_no_verb_pays_for_arrays_before_it_reads_some() -> None:
    verbs = "".join(f"import eitherway.cli.{frame.COMPILERS.get(v, v)}; " for v in frame.VERBS)
    code = f"import sys; {verbs}print('numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"
