# SPDX-License-Identifier: Apache-2.0
"""What people give to `record` by mistake: one clear message, the right exit code, nothing left."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eitherway import __version__
from eitherway.sandbox.processes import adopting, children
from eitherway.worlds.threads.build import build

PROGRAMS = Path(__file__).parents[1] / "threads" / "programs"
Done = subprocess.CompletedProcess[str]


def eitherway(folder: Path, *words: str | Path) -> Done:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *map(str, words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
    )


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("endless") / "endless"
    build(PROGRAMS / "endless.c", path)
    return path


def gcc(folder: Path, *words: str, source: str = "int main(void) { return 0; }") -> Path:
    (folder / "it.c").write_text(source, encoding="utf-8")
    built = subprocess.run(
        ["gcc", "it.c", "-o", "it", *words], cwd=folder, capture_output=True, check=False
    )
    if built.returncode:
        pytest.skip(f"this machine does not build with {words}")
    return folder / "it"


def made(data: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "it"
        path.write_bytes(data)
        path.chmod(0o755)
        return path

    return make


def truncated(folder: Path) -> Path:
    path = gcc(folder)
    path.write_bytes(path.read_bytes()[:100])
    return path


def directory(folder: Path) -> Path:
    (folder / "it").mkdir()
    return folder / "it"


def not_executable(folder: Path) -> Path:
    path = gcc(folder)
    path.chmod(0o644)
    return path


BAD: dict[str, tuple[Callable[[Path], Path], int, str]] = {
    "ordinary": (gcc, 65, "was not built by eitherway cc"),
    "stripped": (lambda folder: gcc(folder, "-s"), 65, "was not built by eitherway cc"),
    "static": (lambda folder: gcc(folder, "-static"), 65, "static executable"),
    "static-pie": (lambda folder: gcc(folder, "-static-pie"), 65, "static executable"),
    "libtsan": (lambda folder: gcc(folder, "-fsanitize=thread"), 65, "another thread sanitizer"),
    "32-bit": (made(b"\x7fELF\x01\x01\x01" + bytes(60)), 65, "32-bit"),
    "foreign": (made(b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\0" + bytes(60)), 65, "processor"),
    "truncated": (truncated, 65, "cut short"),
    "empty": (made(b""), 64, "is empty"),
    "text": (made(b"no program\n"), 64, "neither an ELF program nor a script"),
    "directory": (directory, 64, "is a directory"),
    "not executable": (not_executable, 64, "is not executable"),
    "missing": (lambda folder: folder / "it", 64, "does not exist"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_program_of_ours_is_refused(kind: str, tmp_path: Path) -> None:
    make, code, said = BAD[kind]
    done = eitherway(tmp_path, "record", "--world", "threads", "--", make(tmp_path))
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert not (tmp_path / ".eitherway").exists()


def test_a_program_of_another_version_is_refused(endless: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    version = __version__.encode()
    data = endless.read_bytes()
    assert data.count(version.ljust(32, b"\0")) == 1
    older.write_bytes(data.replace(version.ljust(32, b"\0"), b"0.0.7".ljust(32, b"\0")))
    older.chmod(0o755)
    done = eitherway(tmp_path, "record", "--", older, "counting")
    assert done.returncode == 65
    assert f"was built by EitherWay 0.0.7, this is {__version__}" in done.stderr
    assert "rebuild it" in done.stderr


def test_a_stripped_program_of_ours_runs(endless: Path, tmp_path: Path) -> None:
    copy = tmp_path / "stripped"
    shutil.copy(endless, copy)
    subprocess.run(["strip", copy], check=True)
    done = eitherway(tmp_path, "record", "--timeout", "0.2", "--", copy, "counting")
    assert done.returncode == 124
    assert eitherway(tmp_path, "replay").returncode == 0


def test_a_script_is_run_for_what_it_starts(tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    build(source, tmp_path / "ours")
    script = tmp_path / "suite.sh"
    script.write_text("#!/bin/sh\n./ours && ./ours\n", encoding="utf-8")
    script.chmod(0o755)
    tree = eitherway(tmp_path, "record", "--", "./suite.sh")
    assert (tree.returncode, "world: processes" in tree.stderr) == (0, True)
    done = eitherway(tmp_path, "record", "--world", "threads", "--verify", "--", "./suite.sh")
    assert done.returncode == 0, done.stderr
    assert "token:" not in done.stderr  # a replay of one would refuse the script
    assert "in 2 processes" in done.stderr
    assert eitherway(tmp_path, "replay").returncode == 0
    script.write_text("#!/bin/sh\ntrue\n", encoding="utf-8")
    nothing = eitherway(tmp_path, "record", "--world", "threads", "--", "./suite.sh")
    assert (nothing.returncode, "no program of ours" in nothing.stderr) == (65, True)


def test_what_is_not_ours_is_a_tree_of_processes(tmp_path: Path) -> None:
    done = eitherway(tmp_path, "record", "--world", "processes", "--", "sh", "-c", "exit 3")
    assert (done.returncode, "world: processes" in done.stderr) == (3, True)
    assert eitherway(tmp_path, "replay").returncode == 0
    refused = eitherway(tmp_path, "record", "--world", "threads", "--", "/bin/true")
    assert (refused.returncode, "was not built by eitherway cc" in refused.stderr) == (65, True)


# --- programs that die in start-up


def ours(folder: Path) -> Path:
    """A program with a library of its own, which is there when it is linked."""
    (folder / "main.c").write_text("int main(void) { return 0; }", encoding="utf-8")
    (folder / "early.c").write_text(
        "#include <stdlib.h>\n__attribute__((constructor)) static void early(void)"
        ' { if (getenv("DIE")) abort(); }\n',
        encoding="utf-8",
    )
    library = ["gcc", "-shared", "-fPIC", "early.c", "-o", "libearly.so"]
    subprocess.run(library, cwd=folder, check=True)
    flags = ["-Wl,--no-as-needed", "-L.", "-learly", "-Wl,-rpath,$ORIGIN"]
    linked = eitherway(folder, "cc", "main.c", *flags, "-o", "it")
    assert linked.returncode == 0, linked.stderr
    return folder / "it"


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    program = ours(tmp_path)
    (tmp_path / "libearly.so").unlink()
    done = eitherway(tmp_path, "record", "--", program)
    assert done.returncode == 69
    assert "a library that it needs is missing" in done.stderr
    assert f"ldd {program}" in done.stderr


def test_a_library_whose_constructor_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = ours(tmp_path)
    monkeypatch.setenv("DIE", "1")
    done = eitherway(tmp_path, "record", "--", program)
    assert done.returncode == 65
    assert "died in start-up" in done.stderr
    assert "killed by signal 6" in done.stderr
    assert eitherway(tmp_path, "replay").returncode == 65  # nothing was kept


# --- programs that are others by now


def test_a_recording_of_a_program_that_moved_or_was_built_again(tmp_path: Path) -> None:
    source = tmp_path / "it.c"
    source.write_text("int main(void) { return 0; }", encoding="utf-8")
    build(source, tmp_path / "it")
    assert eitherway(tmp_path, "record", "--", "./it").returncode == 0
    source.write_text("int main(void) { return 1; }", encoding="utf-8")
    build(source, tmp_path / "it")
    rebuilt = eitherway(tmp_path, "replay")
    assert (rebuilt.returncode, "of another build of" in rebuilt.stderr) == (65, True)
    (tmp_path / "it").rename(tmp_path / "elsewhere")
    moved = eitherway(tmp_path, "replay")
    assert (moved.returncode, "which is gone" in moved.stderr) == (65, True)


# --- programs that do not end, or not well


def test_a_program_out_of_time_is_kept(endless: Path, tmp_path: Path) -> None:
    done = eitherway(tmp_path, "record", "--timeout", "0.3", "--", endless, "deaf")
    assert done.returncode == 124
    assert "it took more than 0.3 seconds" in done.stderr
    again = eitherway(tmp_path, "replay", "--times", "2")
    assert again.returncode == 0, again.stderr
    assert "stopped where it was" in again.stderr


@pytest.mark.parametrize(
    ("number", "how", "code"),
    [
        (signal.SIGINT, "counting", 130),
        (signal.SIGTERM, "counting", 143),
        (signal.SIGTERM, "waiting", 143),
        (signal.SIGHUP, "waiting", 129),
    ],
)
def test_what_was_recorded_before_an_interruption_is_kept(
    number: int, how: str, code: int, endless: Path, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "eitherway", "record", "--", str(endless), how]
    with (
        adopting(),
        subprocess.Popen(
            words,
            cwd=tmp_path,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        before = [pid for pid in children(os.getpid()) if pid != process.pid]
        process.send_signal(number)
        _, errors = process.communicate()
        assert [pid for pid in children(os.getpid()) if pid != process.pid] == before
    assert process.returncode == code, errors
    assert "eitherway: interrupted\n" in errors
    again = eitherway(tmp_path, "replay")
    assert again.returncode == 0, again.stderr
    assert f"killed by signal {int(number)}" in again.stderr


def test_a_replay_that_takes_too_long_is_ended(endless: Path, tmp_path: Path) -> None:
    eitherway(tmp_path, "record", "--timeout", "1", "--", endless, "counting")
    done = eitherway(tmp_path, "replay", "--timeout", "0.05")
    assert done.returncode == 124
    assert "it took more than 0.05 seconds" in done.stderr


def test_a_program_that_closes_its_output_and_one_that_is_killed(tmp_path: Path) -> None:
    source = tmp_path / "it.c"
    source.write_text(
        "#include <signal.h>\n#include <unistd.h>\n"
        "int main(int n, char **v) { close(1); close(2); (void)v;"
        " return n > 1 ? kill(getpid(), SIGKILL) : 0; }",
        encoding="utf-8",
    )
    build(source, tmp_path / "it")
    assert eitherway(tmp_path, "record", "--", "./it").returncode == 0
    assert eitherway(tmp_path, "replay").returncode == 0
    assert eitherway(tmp_path, "record", "--", "./it", "killed").returncode == 137
    again = eitherway(tmp_path, "replay")
    assert (again.returncode, "killed by signal 9" in again.stderr) == (0, True)


def test_output_that_nobody_reads_does_not_end_the_run(endless: Path, tmp_path: Path) -> None:
    line = f'"{sys.executable}" -m eitherway record --timeout 0.5 -- {endless} writing | head -c 6'
    script = f"{line}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "begun\n"
    assert done.returncode == 124, done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_program_leaves_is_told(tmp_path: Path) -> None:
    build(PROGRAMS / "leaves.c", tmp_path / "leaves")
    done = eitherway(tmp_path, "record", "--", "./leaves")
    assert (done.returncode, "it left 1 process, ended now" in done.stderr) == (0, True)
