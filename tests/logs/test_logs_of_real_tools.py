# SPDX-License-Identifier: Apache-2.0
"""Logs that the tools write here and now; where one does not work, its test says why."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.logs.test_logs_read import BLOCK, LEAK, SHELF, log_of

from eitherway.model.identity import headline

ROOT = Path(__file__).parents[2]
SHOP = Path(__file__).parent / "programs" / "shop.cc"
MISUSE = SHOP.with_name("misuse.c")


def built(source: Path, target: Path, *options: str, compiler: str = "") -> Path:
    compiler = compiler or ("g++" if source.suffix == ".cc" else "gcc")
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    command = [compiler, "-g", *options, str(source), "-o", str(target), "-pthread"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"this compiler cannot: {made.stderr.strip().splitlines()[-1]}")
    return target


def output_of(*command: str) -> bytes:
    """Both streams; addresses as the sanitizer needs them where the kernel has many random bits."""
    run = subprocess.run(
        ["setarch", "-R", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TSAN_OPTIONS": "second_deadlock_stack=1"},
        check=False,
    )
    if b"FATAL" in run.stdout or b"failed in the dynamic linker" in run.stdout:
        pytest.skip(f"it does not run here: {run.stdout[:200]!r}")
    return run.stdout


def valgrind(tool: str, program: Path, *words: str) -> bytes:
    """Words that begin with `-` are its own, the others the program's."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed: tools/setup dev installs it")
    own = [word for word in words if word.startswith("-")]
    return output_of(
        "valgrind", f"--tool={tool}", *own, str(program), *(w for w in words if w not in own)
    )


def test_thread_sanitizer_of_gcc(tmp_path: Path) -> None:
    program = built(SHOP, tmp_path / "shop", "-fsanitize=thread")
    found = {headline(finding) for finding in log_of(output_of(str(program)))[1]}
    assert {SHELF, BLOCK, LEAK} <= found


@pytest.mark.parametrize("tool", ["helgrind", "drd"])
def test_valgrind_as_text_and_as_xml(tmp_path: Path, tool: str) -> None:
    program = built(SHOP, tmp_path / "shop")
    text = log_of(valgrind(tool, program))[1]
    valgrind(tool, program, "--xml=yes", f"--xml-file={tmp_path / 'out.xml'}")
    xml = log_of((tmp_path / "out.xml").read_bytes())[1]
    races = {headline(finding) for finding in text if finding.kind == "data-race"}
    assert races == {headline(finding) for finding in xml if finding.kind == "data-race"}
    sides = " / ".join(["shop.cc:put"] * (2 if tool == "helgrind" else 1))
    assert f"data-race on heap block: {sides}" in races


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("destroy", "lock-misuse on mutex: misuse.c:destroy_locked / misuse.c:destroy_locked"),
        ("unlock", "lock-misuse on mutex: misuse.c:unlock_unlocked"),
        ("use", "memory-error: misuse.c:give_back / misuse.c:use"),
        ("crash", "failure: misuse.c:crash"),
    ],
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_thread_sanitizer_tells_of_misuse(
    tmp_path: Path, compiler: str, what: str, told: str
) -> None:
    program = built(MISUSE, tmp_path / "misuse", "-fsanitize=thread", compiler=compiler)
    assert [headline(one) for one in log_of(output_of(str(program), what))[1]] == [told]


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("destroy", "lock-misuse on mutex: misuse.c:destroy_locked"),
        ("unlock", "lock-misuse on mutex: misuse.c:unlock_unlocked"),
        ("end", "lock-misuse on mutex: "),
        ("crash", "failure: misuse.c:crash"),
    ],
)
@pytest.mark.parametrize("tool", ["helgrind", "drd"])
def test_what_valgrind_tells_of_misuse(tmp_path: Path, tool: str, what: str, told: str) -> None:
    program = built(MISUSE, tmp_path / "misuse")
    log, found = log_of(valgrind(tool, program, what))
    assert {headline(one)[: len(told)] for one in found} == {told}
    assert not any("not to be read" in note for note in log.notes)


def eitherway(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_one_race_that_all_tools_see_is_one_finding(tmp_path: Path) -> None:
    """Among them our own: by id where it says as much, else as the one that says more."""
    bank = ROOT / "examples" / "bank.c"
    sanitized = built(bank, tmp_path / "sanitized", "-fsanitize=thread")
    (tmp_path / "tsan.log").write_bytes(output_of(str(sanitized)))
    plain = built(bank, tmp_path / "plain")
    for tool in ("helgrind", "drd"):
        (tmp_path / f"{tool}.log").write_bytes(valgrind(tool, plain))
    assert eitherway(tmp_path, "cc", "-g", str(bank), "-o", "bank").returncode == 0
    check = eitherway(
        tmp_path, "check", "--schedules", "20", "--jobs", "1", "--json", "own.json", "--", "./bank"
    )
    assert check.returncode == 1, check.stderr
    files = ["tsan.log", "helgrind.log", "drd.log", "own.json"]
    done = eitherway(tmp_path, "report", *files, "--json", "-")
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    tools = [source["tool"] for source in finding["sources"]]
    assert tools == ["DRD", "Helgrind", "ThreadSanitizer", "eitherway"]
    assert finding["history"]["moments"]
    assert finding["replay"].startswith("eitherway replay ")
