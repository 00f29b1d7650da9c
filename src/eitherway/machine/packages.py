# SPDX-License-Identifier: Apache-2.0
"""Which package brings a tool, in each family of distributions."""

import platform

from eitherway.machine.host import Host

INSTALL = {
    "apt": "apt-get install -y",
    "dnf": "dnf install -y",
    "pacman": "pacman -S --needed",
    "zypper": "zypper install -y",
}

# {kernel} is the release of the running kernel; Arch and SUSE name no package by it.
PACKAGES: dict[str, dict[str, str]] = {
    "gcc": {"apt": "gcc libc6-dev", "dnf": "gcc", "pacman": "gcc", "zypper": "gcc"},
    "g++": {"apt": "g++", "dnf": "gcc-c++", "pacman": "gcc", "zypper": "gcc-c++"},
    "clang": dict.fromkeys(INSTALL, "clang"),
    "clang++": dict.fromkeys(INSTALL, "clang"),
    "llvm": dict.fromkeys(INSTALL, "llvm"),
    "binutils": dict.fromkeys(INSTALL, "binutils"),
    "libdw": {"apt": "libdw1", "dnf": "elfutils-libs", "pacman": "libelf", "zypper": "libdw1"},
    "gdb": dict.fromkeys(INSTALL, "gdb"),
    "make": dict.fromkeys(INSTALL, "make"),
    "qemu": {
        "apt": "qemu-system-x86",
        "dnf": "qemu-system-x86-core",
        "pacman": "qemu-system-x86",
        "zypper": "qemu-x86",
    },
    "libc-debug": {
        "apt": "libc6-dbg",
        "dnf": "glibc-debuginfo",
        "pacman": "debuginfod",
        "zypper": "glibc-debuginfo",
    },
    "kernel-headers": {
        "apt": "linux-headers-{kernel}",
        "dnf": "kernel-devel-{kernel}",
        "pacman": "linux-headers",
        "zypper": "kernel-default-devel",
    },
}


def package_names(key: str, host: Host) -> tuple[str, ...]:
    """The names under this distribution; under Debian's where it is not known."""
    names = PACKAGES[key][host.installer or "apt"]
    return tuple(names.format(kernel=platform.release()).split())


def install_command(names: tuple[str, ...], host: Host) -> str:
    """What to type, or in words what to look for."""
    if not host.installer:
        return f"install what your distribution calls (in Debian): {' '.join(names)}"
    return f"{host.sudo}{INSTALL[host.installer]} {' '.join(names)}"
