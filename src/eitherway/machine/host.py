# SPDX-License-Identifier: Apache-2.0
"""Which machine this is: distribution, kernel, privileges, signs of a container.

Nothing here decides whether a mechanism works; it only chooses the words of a fix.
"""

import os
import platform
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Bits of the masks in /proc/PID/status that our mechanisms ask for; linux/capability.h.
CAPABILITY_BITS = {
    "SYS_MODULE": 16,
    "SYS_PTRACE": 19,
    "SYS_ADMIN": 21,
    "PERFMON": 38,
    "BPF": 39,
    "CHECKPOINT_RESTORE": 40,
}
SECCOMP_FILTERED = 2
INSTALLERS = {"debian": "apt", "fedora": "dnf", "rhel": "dnf", "arch": "pacman", "suse": "zypper"}
CGROUP_SIGNS = {"docker": "docker", "kubepods": "kubernetes", "libpod": "podman", "lxc": "lxc"}


@dataclass(frozen=True, slots=True)
class Host:
    """`signs` are the reasons for taking it for a container; `installer` is "" when not known."""

    system: str
    kernel: str
    architecture: str
    cpus: int
    root: bool
    installer: str
    container: str
    signs: tuple[str, ...]
    capabilities: int  # that the process has now, as the mask of /proc/PID/status
    bounding: int  # that root could have here
    filtered: bool  # a seccomp filter is in force

    def may(self, capability: str) -> bool:
        """Whether the process has the Linux capability."""
        return bool(self.capabilities >> CAPABILITY_BITS[capability] & 1)

    def root_may(self, capability: str) -> bool:
        """Whether root would have it here."""
        return bool(self.bounding >> CAPABILITY_BITS[capability] & 1)

    @property
    def sudo(self) -> str:
        """What to put before a command that only root may run."""
        return "" if self.root else "sudo "


def read_host(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> Host:
    """Look at the machine whose files lie below `root`."""
    release = os_release(root)
    status = process_status(root)
    container, signs = container_signs(root, environ)
    return Host(
        system=release.get("PRETTY_NAME", "Linux of unknown distribution"),
        kernel=platform.release(),
        architecture=platform.machine(),
        cpus=len(os.sched_getaffinity(0)),
        root=os.geteuid() == 0,
        installer=installer(release),
        container=container,
        signs=signs,
        capabilities=int(status.get("CapEff", "0"), 16),
        bounding=int(status.get("CapBnd", "0"), 16),
        filtered=int(status.get("Seccomp", "0")) == SECCOMP_FILTERED,
    )


def os_release(root: Path) -> dict[str, str]:
    """/etc/os-release as a dictionary, quotes removed; empty when there is none."""
    entries = {}
    for line in _text(root / "etc/os-release").splitlines():
        key, equals, value = line.partition("=")
        if equals and not key.startswith("#"):
            entries[key.strip()] = _unquoted(value)
    return entries


def _unquoted(value: str) -> str:
    try:
        return "".join(shlex.split(value))
    except ValueError:  # a quote that never ends
        return value.strip()


def process_status(root: Path) -> dict[str, str]:
    """The `Name: value` lines of /proc/self/status."""
    lines = (line.partition(":") for line in _text(root / "proc/self/status").splitlines())
    return {name: value.strip() for name, _, value in lines}


def installer(release: Mapping[str, str]) -> str:
    """The package manager, by the distribution or the ones it says it is like."""
    names = [release.get("ID", ""), *release.get("ID_LIKE", "").split()]
    for name in names:
        for family, manager in INSTALLERS.items():
            if name.startswith(family) or (name, family) == ("ubuntu", "debian"):
                return manager
    return ""


def container_signs(root: Path, environ: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The likely container manager ("" for none) and what made us think so."""
    found = list(_signs(root, environ))
    kind = found[0][0] if found else ""
    return kind, tuple(sign for _, sign in found)


def _signs(root: Path, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    found = []
    if named := environ.get("container", ""):
        found.append((named, f"container={named}"))
    if named := _text(root / "run/systemd/container").strip():
        found.append((named, "/run/systemd/container"))
    if (root / "run/.containerenv").exists():
        found.append(("podman", "/run/.containerenv"))
    if (root / ".dockerenv").exists():
        found.append(("docker", "/.dockerenv"))
    if "KUBERNETES_SERVICE_HOST" in environ:
        found.append(("kubernetes", "KUBERNETES_SERVICE_HOST"))
    groups = _text(root / "proc/1/cgroup")
    for word, kind in CGROUP_SIGNS.items():
        if re.search(rf"[/:]{word}\b", groups):
            found.append((kind, "/proc/1/cgroup"))
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
