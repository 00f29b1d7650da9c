# SPDX-License-Identifier: Apache-2.0
"""The other tools: debugger, make, emulator, kernel headers, debug information of libc."""

import os
import platform
import re
import shutil
import tempfile
from pathlib import Path

from eitherway.elf import ElfError, build_id, opened
from eitherway.machine.capability import Seen, State
from eitherway.machine.run import Ran, failed, run

EMULATORS = {"x86_64": "qemu-system-x86_64", "aarch64": "qemu-system-aarch64"}

# At the reset vector of a PC: mov dx, 0xf4; mov al, 0x10; out dx, al; hlt. The device at port 0xf4
# ends QEMU with status (0x10 << 1) | 1, which no failure of QEMU has.
ROM_SIZE = 64 * 1024
RESET_VECTOR = ROM_SIZE - 16
RESET_CODE = bytes([0xBA, 0xF4, 0x00, 0xB0, 0x10, 0xEE, 0xF4])
GUEST_STATUS = 0x10 << 1 | 1


def probe_gdb() -> Seen:
    """gdb, without the user's settings, computes."""
    path = shutil.which("gdb")
    if path is None:
        return Seen(State.NO, "no gdb on the PATH")
    ran = run([path, "-nx", "-q", "-batch", "-ex", "show version", "-ex", "print 6*7"])
    if not ran.ok:
        return failed(ran, "gdb")
    if "$1 = 42" not in ran.output:
        return Seen(State.NO, "gdb starts and does not compute")
    return Seen(State.YES, f"gdb {_version(ran)}")


def probe_make() -> Seen:
    """GNU make runs a rule and shows its database."""
    path = shutil.which("make")
    if path is None:
        return Seen(State.NO, "no make on the PATH")
    version = run([path, "--version"])
    if not version.output.startswith("GNU Make"):
        return Seen(State.NO, "make is not GNU make")
    ran = run([path, "-p", "-f", "-", "goal"], text="goal: ; @echo did $@\n")
    if not ran.ok or "did goal" not in ran.output or "goal:" not in ran.output:
        return failed(ran, "make -p")
    return Seen(State.YES, f"GNU make {_version(version)}")


def probe_qemu(accelerator: str) -> Seen:
    """QEMU runs a guest of five bytes and ends with the status that the guest chose."""
    name = EMULATORS.get(platform.machine(), "")
    path = shutil.which(name) if name else None
    if path is None:
        return Seen(State.NO, f"no {name or 'QEMU for this architecture'} on the PATH")
    version = run([path, "--version"])
    if not version.ok:
        return failed(version, f"{name} --version")
    title = f"QEMU {_version(version)} with {accelerator.upper()}"
    if name != "qemu-system-x86_64":
        return Seen(State.PARTLY, f"{title}, not tried: our guest is for x86-64")
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        ran = _boot(path, accelerator, Path(folder))
    if ran.status == GUEST_STATUS:
        return Seen(State.YES, f"{title} ran a guest")
    return _no_guest(ran, title)


def _boot(path: str, accelerator: str, folder: Path) -> Ran:
    rom = bytearray(ROM_SIZE)
    rom[RESET_VECTOR : RESET_VECTOR + len(RESET_CODE)] = RESET_CODE
    (folder / "rom").write_bytes(rom)
    cpu = "host" if accelerator == "kvm" else "max"
    arguments = f"-accel {accelerator} -cpu {cpu} -machine pc -m 16 -nodefaults -display none"
    device = "-no-reboot -bios rom -device isa-debug-exit,iobase=0xf4,iosize=4"
    # QEMU aborts on a KVM it cannot use; that must not leave a core file.
    shell = ["/bin/sh", "-c", 'ulimit -c 0; exec "$@"', "sh", path]
    return run([*shell, *arguments.split(), *device.split()], cwd=str(folder))


def _no_guest(ran: Ran, title: str) -> Seen:
    if ran.status is None:
        return Seen(State.UNKNOWN, f"{title}: the guest did not end in time")
    lines = [line for line in ran.output.splitlines() if "error" in line or "ould not" in line]
    reason = lines[0].rpartition("qemu-system-x86_64: ")[2] if lines else f"status {ran.status}"
    return Seen(State.NO, f"{title} runs no guest: {reason[:120]}")


def probe_kernel_headers(modules: Path = Path("/lib/modules")) -> Seen:
    """What a module for the running kernel is built with."""
    build = modules / platform.release() / "build"
    needed = [build / "Makefile", build / "include/generated/autoconf.h"]
    if all(path.exists() for path in needed):
        return Seen(State.YES, str(build))
    return Seen(State.NO, f"no {build}")


def probe_libc_debug(maps: Path = Path("/proc/self/maps")) -> Seen:
    """Debug information of the libc that programs here are linked with."""
    found = re.search(r"(/\S*/libc(?:\.so\.6|-2\.\d+\.so))$", maps.read_text(), re.MULTILINE)
    if found is None:
        return Seen(State.UNKNOWN, "no glibc is mapped here")
    library = Path(found[1])
    try:
        identity = build_id(library)
        with opened(library) as elf:
            inside = elf.has_section(b".debug_info")
    except (ElfError, OSError) as problem:
        return Seen(State.UNKNOWN, f"{library}: {problem}")
    if inside:
        return Seen(State.YES, f"inside {library}")
    separate = Path(f"/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug")
    if identity and separate.exists():
        return Seen(State.YES, str(separate))
    if os.environ.get("DEBUGINFOD_URLS"):
        return Seen(State.PARTLY, "to be fetched from DEBUGINFOD_URLS")
    return Seen(State.NO, f"none for {library}")


def _version(ran: Ran) -> str:
    number = re.search(r"\b\d+\.\d+(\.\d+)?", ran.output)
    return number[0] if number else "(unknown version)"
