# SPDX-License-Identifier: Apache-2.0
"""A replay in the debugger is the same run: names, environment and addresses."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **words) {
    int variables = 0;
    while (environ[variables])
        variables++;
    printf("told: %p %d %s %s %d\n", (void *)&count, getpid(), words[0], words[1], variables);
}
"""


@pytest.mark.skipif(shutil.which("gdb") is None, reason="needs gdb")
@pytest.mark.parametrize("name", ["./program", "nested/../program"])
def test_the_debugger_changes_nothing(tmp_path: Path, name: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(SOURCE, encoding="utf-8")
    build(source, tmp_path / "program")
    (tmp_path / "nested").mkdir()
    tool = [sys.executable, "-m", "eitherway"]
    words = [*tool, "record", "--", name, "two words"]
    first = subprocess.run(
        words, cwd=tmp_path, input="", capture_output=True, text=True, check=True
    )
    debugged = subprocess.run(
        [*tool, "replay", "--gdb"],
        cwd=tmp_path,
        input="set confirm off\nbreak main\nrun\ncontinue\nquit\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Breakpoint 1, main" in debugged.stdout
    assert first.stdout in debugged.stdout
