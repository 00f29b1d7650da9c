# SPDX-License-Identifier: Apache-2.0
"""`eitherway check` on programs of the corpus, as a user would call it."""

import contextlib
import ctypes
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from eitherway.cli.main import main
from eitherway.model.document import read_document
from eitherway.model.finding import Document

FLAGS = {".c": ("-g",), ".cc": ("-g", "-std=c++20")}
_VERBS = {".c": "cc", ".cc": "c++"}
_STARTED = (0, 1, 2)  # exit codes of a check that ran


class CheckError(RuntimeError):
    """A check that did not come to an end, or a program that did not compile."""


def build(source: Path, program: Path, *flags: str) -> None:
    """Compile a program of the corpus for our runtime."""
    command = [sys.executable, "-m", "eitherway", _VERBS[source.suffix], *FLAGS[source.suffix]]
    compiled([*command, *flags], source, program)


def compiled(command: list[str], source: Path, program: Path) -> None:
    """Compile, or say why not."""
    whole = [*command, str(source), "-o", str(program)]
    run = subprocess.run(whole, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise CheckError(f"{source.name} does not compile:\n{run.stderr}")


def checked(program: Path, *options: str, arguments: Sequence[str] = ()) -> Document:
    """What one check tells, without anything that an earlier one knew; judged when asked."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as name:
        home, told = Path(name) / "home", Path(name) / "told.json"
        said = io.StringIO()
        with (
            mock.patch.dict(os.environ, EITHERWAY_DIR=str(home)),
            _quiet(said),
            addresses_as_before(),
        ):
            words = ["check", "--no-judge", "--json", str(told), *options]
            code = main([*words, "--", str(program), *arguments])
        if code not in _STARTED:
            raise CheckError(f"check of {program.name} ended with {code}:\n{said.getvalue()}")
        return read_document(told.read_text(encoding="utf-8"))


@contextlib.contextmanager
def _quiet(said: io.StringIO) -> Iterator[None]:
    """Nothing to read, and nothing to see."""
    with (
        open(os.devnull, encoding="ascii") as nothing,
        mock.patch.object(sys, "stdin", nothing),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        yield


@contextlib.contextmanager
def addresses_as_before() -> Iterator[None]:
    """Whoever comes next has random addresses again: a check fixes them for its whole process."""
    libc = ctypes.CDLL(None)
    before = libc.personality(0xFFFFFFFF)
    try:
        yield
    finally:
        libc.personality(before)
