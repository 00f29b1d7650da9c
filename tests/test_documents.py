# SPDX-License-Identifier: Apache-2.0
"""The console blocks of README and docs, typed as a person would type them.

In a ```console block a line `$ command` is run by sh in a directory that has nothing in it but the
project's examples/, with the installed tool on the PATH. The lines below it are what it prints,
both streams; a line `...` stands for any number of lines, and `...` inside a line for any text.
`[exit N]` is its exit code where that is not 0.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"^\[exit (\d+)\]$")


@dataclass(frozen=True)
class Step:
    """One command and what it must print."""

    command: str
    output: tuple[str, ...]
    status: int


def steps(block: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        status = 0
        if lines and (match := EXIT.match(lines[-1])):
            status = int(match[1])
            lines.pop()
        yield Step(command, tuple(lines), status)


def pattern(lines: tuple[str, ...]) -> re.Pattern[str]:
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(map(re.escape, line.split("..."))) + r"\n")
    return re.compile("".join(parts))


def blocks() -> list[tuple[str, str]]:
    found = []
    for document in DOCUMENTS:
        for match in BLOCK.finditer(document.read_text(encoding="utf-8")):
            line = document.read_text(encoding="utf-8")[: match.start()].count("\n") + 1
            found.append((f"{document.relative_to(ROOT)}:{line}", match[1]))
    return found


@pytest.mark.parametrize(("where", "block"), blocks(), ids=lambda value: value.split("\n")[0])
def test_a_console_block_does_what_it_says(where: str, block: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for step in steps(block):
        run = subprocess.run(
            ["sh", "-c", step.command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        assert run.returncode == step.status, f"{where}: $ {step.command}\n{run.stdout}"
        assert pattern(step.output).fullmatch(run.stdout), (
            f"{where}: $ {step.command}\n{run.stdout}"
        )


def test_there_are_blocks_to_run() -> None:
    assert any(where.startswith("README.md") for where, _ in blocks())


def test_a_block_that_lies_is_noticed() -> None:
    (step,) = steps("$ true\nhello ... you\n...\nend\n[exit 3]\n")
    assert step == Step("true", ("hello ... you", "...", "end"), 3)
    assert pattern(step.output).fullmatch("hello dear you\nmore\nmore\nend\n")
    assert not pattern(step.output).fullmatch("hello dear me\nend\n")
