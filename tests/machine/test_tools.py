# SPDX-License-Identifier: Apache-2.0
"""Tools that are missing, old, broken, slow or lying."""

import os
import platform
import select
import subprocess
from pathlib import Path

import pytest

from eitherway.elf import Elf, ElfError, build_id
from eitherway.machine import compilers, symbolizers, tools
from eitherway.machine.capability import Seen, State
from eitherway.machine.native import ask
from eitherway.machine.run import failed, run
from eitherway.machine.survey import probe_all


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on the PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_a_compiler_that_is_there_builds() -> None:
    version = subprocess.run(
        ["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True
    )
    found = compilers.probe_compiler("gcc")
    assert found.usable
    assert version.stdout.strip() in found.detail


def test_a_compiler_that_ignores_the_flag_is_refused(on_path: Path) -> None:
    real = compilers.find_c_compiler()
    script(
        on_path / "gcc",
        'for a; do shift; [ "$a" = -fsanitize=thread ] || set -- "$@" "$a"; done\n'
        f'exec {real} "$@"',
    )
    found = compilers.probe_compiler("gcc")
    assert found.state is State.NO
    assert "ignores it" in found.detail


def test_an_old_compiler_counts_half(on_path: Path) -> None:
    real = compilers.find_c_compiler()
    script(on_path / "gcc", f'[ "$1" = -dumpfullversion ] && echo 9.4.0 && exit; exec {real} "$@"')
    assert compilers.probe_compiler("gcc") == Seen(
        State.PARTLY, "gcc 9.4.0, older than the 12 we test with"
    )


def test_a_compiler_that_cannot_compile_says_why(on_path: Path) -> None:
    script(
        on_path / "gcc", '[ "$1" = -dumpfullversion ] && echo 12.2.0 && exit; echo no cc1; exit 1'
    )
    found = compilers.probe_compiler("gcc")
    assert found.state is State.NO
    assert found.detail == "compiling with gcc -fsanitize=thread: no cc1"


def test_a_symbolizer_that_knows_nothing_is_refused(on_path: Path) -> None:
    script(
        on_path / "addr2line",
        '[ "$1" = --version ] && echo GNU addr2line 2.40 && exit; echo "??:0"',
    )
    assert symbolizers.probe_addr2line() == Seen(
        State.NO, "addr2line 2.40 does not find the line of a function"
    )


def test_a_symbolizer_without_a_compiler_counts_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "llvm-symbolizer-14", "echo LLVM version 14.0.6")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = symbolizers.probe_llvm_symbolizer()
    assert found.state is State.PARTLY
    assert "14.0.6" in found.detail


def test_a_make_that_is_not_gnu_make_is_refused(on_path: Path) -> None:
    script(on_path / "make", "echo bmake")
    assert tools.probe_make() == Seen(State.NO, "make is not GNU make")


def test_gnu_make_runs() -> None:
    assert tools.probe_make().state is State.YES


def test_a_debugger_that_crashes_is_unknown(on_path: Path) -> None:
    script(on_path / "gdb", "kill -SEGV $$")
    assert tools.probe_gdb() == Seen(State.UNKNOWN, "gdb: died of SIGSEGV")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the guest is for x86-64")
def test_an_emulator_that_runs_no_guest_says_why(on_path: Path) -> None:
    script(
        on_path / "qemu-system-x86_64",
        '[ "$1" = --version ] && echo QEMU emulator version 7.2.1 && exit\n'
        'echo "qemu-system-x86_64: Could not access KVM kernel module" >&2; exit 1',
    )
    assert tools.probe_qemu("kvm") == Seen(
        State.NO, "QEMU 7.2.1 with KVM runs no guest: Could not access KVM kernel module"
    )


def test_kernel_headers(tmp_path: Path) -> None:
    build = tmp_path / platform.release() / "build"
    assert tools.probe_kernel_headers(tmp_path).state is State.NO
    (build / "include" / "generated").mkdir(parents=True)
    (build / "include" / "generated" / "autoconf.h").touch()
    assert tools.probe_kernel_headers(tmp_path).state is State.NO
    (build / "Makefile").touch()
    assert tools.probe_kernel_headers(tmp_path) == Seen(State.YES, str(build))


def test_a_machine_without_glibc(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text("7f00-7f01 r-xp 0 08:01 1 /lib/ld-musl-x86_64.so.1\n")
    assert tools.probe_libc_debug(maps).state is State.UNKNOWN
    library = tmp_path / "libc.so.6"
    library.write_bytes(b"\x7fELF\x02\x01 cut short")
    maps.write_text(f"7f00-7f01 r-xp 0 08:01 1 {library}\n")
    assert tools.probe_libc_debug(maps).state is State.UNKNOWN


def test_the_build_id_is_the_one_the_linker_wrote(tmp_path: Path) -> None:
    program = tmp_path / "program"
    chosen = "00112233445566778899aabbccddeeff"
    flags = ["-x", "c", "-", f"-Wl,--build-id=0x{chosen}", "-o", str(program)]
    subprocess.run(["gcc", *flags], input=b"int main(void) { return 0; }", check=True)
    assert build_id(program) == chosen


@pytest.mark.parametrize("size", [0, 5, 63, 64, 1000])
def test_a_damaged_elf_file_is_refused(size: int) -> None:
    whole = Path(os.path.realpath("/proc/self/exe")).read_bytes()
    with pytest.raises(ElfError):
        _ = Elf(whole[:size]).sections


def await_end(pid: int) -> None:
    """It was killed, but may still be on its way: without end if it was not."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([process], [], [])
    os.close(process)


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.touch()
    hanging = script(tmp_path / "hanging", f"sleep 1000 & echo $! > {pids}; wait")
    ran = run([str(hanging)], limit=1)
    assert ran.status is None
    assert failed(ran, "it").state is State.UNKNOWN
    for pid in pids.read_text().split():
        await_end(int(pid))


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("sleep 1000", "no answer within 0.3 s"),
        ("kill -SEGV $$", "probe ended with -11"),
        ("exit 64", "probe ended with 64"),
        ("echo nonsense", "the probe answered 'nonsense'"),
    ],
)
def test_a_probe_that_does_not_answer_is_unknown(tmp_path: Path, text: str, detail: str) -> None:
    assert ask(script(tmp_path / "probe", text), "ptrace", 0.3) == Seen(State.UNKNOWN, detail)


def test_a_probe_that_is_no_program_hides_nothing_else(tmp_path: Path) -> None:
    answers = probe_all(tmp_path / "missing")
    assert answers["ptrace"].state is State.UNKNOWN
    assert "does not start" in answers["ptrace"].detail
    assert answers["gcc"].usable
