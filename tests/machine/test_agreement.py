# SPDX-License-Identifier: Apache-2.0
"""What the probe says equals what an independent attempt gives, on any machine."""

import ctypes
import fcntl
import mmap
import os
import platform
import shutil
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.machine.harness import ask

from eitherway.machine.capability import State
from eitherway.machine.native import parse

libc = ctypes.CDLL(None, use_errno=True)
SYSCALLS = {"x86_64": {"bpf": 321, "perf_event_open": 298, "userfaultfd": 323}}


def state(probe: Path, name: str) -> State:
    return parse(ask(probe, name)).state


def succeeds(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def attempt(name: str, *arguments: object) -> int:
    """A raw system call: its result, or -1."""
    numbers = SYSCALLS.get(platform.machine())
    if numbers is None:
        pytest.skip("call numbers of this architecture are not listed here")
    return int(libc.syscall(numbers[name], *arguments))


def traced_by_traceme() -> bool:
    """The old way of tracing; the probe takes PTRACE_SEIZE."""
    child = os.fork()
    if child == 0:
        if libc.ptrace(0, 0, 0, 0) < 0:
            os._exit(1)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        return False
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def test_ptrace(probe: Path) -> None:
    assert (state(probe, "ptrace") is State.YES) == traced_by_traceme()


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("user-ns", "unshare --user --map-root-user true"),
        ("pid-ns", "unshare --pid --fork true"),
        ("user-pid-ns", "unshare --user --map-root-user --pid --fork true"),
        ("net-ns", "unshare --net ip link set lo up"),
        ("proc-mount", "unshare --pid --fork --mount mount -t proc proc /proc"),
        (
            "user-proc-mount",
            "unshare --user --map-root-user --pid --fork --mount mount -t proc proc /proc",
        ),
        ("mount-ns", "unshare --mount mount -t tmpfs tmpfs /tmp"),
        ("user-mount-ns", "unshare --user --map-root-user --mount mount -t tmpfs tmpfs /tmp"),
    ],
)
def test_namespaces(probe: Path, name: str, command: str) -> None:
    if " ip " in command and shutil.which("ip") is None:
        command = "unshare --net true"
    assert (state(probe, name) is State.YES) == succeeds(*command.split())


OVERLAY = (
    "mount -t tmpfs tmpfs /tmp && cd /tmp && mkdir u w m && "
    "mount -t overlay overlay -o lowerdir={},upperdir=u,workdir=w m"
)


@pytest.mark.parametrize(
    ("name", "unshare", "lower"),
    [
        ("overlay-root", "unshare --mount", "/"),
        ("user-overlay-root", "unshare --user --map-root-user --mount", "/"),
        ("overlay-dir", "unshare --mount", "/etc"),
        ("user-overlay-dir", "unshare --user --map-root-user --mount", "/etc"),
    ],
)
def test_overlays(probe: Path, name: str, unshare: str, lower: str) -> None:
    expected = succeeds(*unshare.split(), "sh", "-c", OVERLAY.format(lower))
    assert (state(probe, name) is State.YES) == expected


def test_aslr(probe: Path) -> None:
    def run() -> bytes:
        return subprocess.run(
            ["setarch", platform.machine(), "-R", "cat", "/proc/self/maps"],
            capture_output=True,
            check=False,
        ).stdout

    if shutil.which("setarch") is None:
        pytest.skip("no setarch here")
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        assert state(probe, "aslr") is State.YES
    else:
        first = run()
        assert (state(probe, "aslr") is State.YES) == (first != b"" and first == run())


def test_memory_of_a_child(probe: Path) -> None:
    word = ctypes.create_string_buffer(b"seen by both")
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        with open(f"/proc/{child}/mem", "rb") as memory:
            memory.seek(ctypes.addressof(word))
            read = memory.read(len(word)) == word.raw
    except OSError:
        read = False
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert (state(probe, "proc-mem") is State.YES) == read


def test_memfd_and_pidfd(probe: Path) -> None:
    def works(make: Callable[[], int]) -> bool:
        try:
            os.close(make())
        except OSError:
            return False
        return True

    assert (state(probe, "memfd") is State.YES) == works(lambda: os.memfd_create("x"))
    if state(probe, "pidfd") is State.YES:
        assert works(lambda: os.pidfd_open(os.getpid()))


def test_page_frame_numbers(probe: Path) -> None:
    page = mmap.mmap(-1, mmap.PAGESIZE)
    page[0] = 1
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        pagemap.seek(address // mmap.PAGESIZE * 8)
        (entry,) = struct.unpack("<Q", pagemap.read(8))
    assert (state(probe, "pagemap-pfn") is State.YES) == bool(entry & (1 << 55) - 1)


def test_bpf_map(probe: Path) -> None:
    attributes = struct.pack("<IIII", 2, 4, 8, 1) + bytes(104)  # an array of one 8-byte value
    descriptor = attempt("bpf", 0, attributes, len(attributes))
    assert (state(probe, "bpf-map") is State.YES) == (descriptor >= 0)
    if descriptor >= 0:
        os.close(descriptor)


def test_hardware_counters(probe: Path) -> None:
    # type hardware, size 64, config instructions; bits exclude_kernel and exclude_hv
    attributes = struct.pack("<IIQQQQQ", 0, 64, 1, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(16)
    descriptor = attempt("perf_event_open", attributes, 0, -1, -1, 0)
    if state(probe, "counters") is State.YES:
        assert descriptor >= 0
    if descriptor >= 0:
        os.close(descriptor)
    else:
        assert state(probe, "counters") is State.NO


def test_userfaultfd(probe: Path) -> None:
    user_mode_only = 1
    descriptor = attempt("userfaultfd", os.O_CLOEXEC | user_mode_only)
    if descriptor >= 0:
        os.close(descriptor)
    elif not os.access("/dev/userfaultfd", os.R_OK | os.W_OK):
        assert state(probe, "uffd-wp") is State.NO
    if state(probe, "pagemap-scan") is State.YES:
        assert state(probe, "uffd-wp") is State.YES


def test_kvm(probe: Path) -> None:
    get_api_version, expected = 0xAE00, 12
    try:
        with open("/dev/kvm", "r+b", buffering=0) as kvm:
            usable = fcntl.ioctl(kvm, get_api_version) == expected
    except OSError:
        usable = False
    if not usable:
        assert state(probe, "kvm") is State.NO


def test_fsgsbase(probe: Path) -> None:
    flags = Path("/proc/cpuinfo").read_text()
    if state(probe, "fsgsbase") is State.YES:
        assert "fsgsbase" in flags
