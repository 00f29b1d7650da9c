# SPDX-License-Identifier: Apache-2.0
"""From a refusal to what is missing and the command that adds it.

Whether something works was decided by doing it. Here privileges, filters, settings and signs of a
container are read, only to find the words.
"""

from collections.abc import Iterable
from pathlib import Path

from eitherway.machine.capability import Fix, Seen, State, Way
from eitherway.machine.definitions import Definition
from eitherway.machine.host import Host
from eitherway.machine.packages import install_command, package_names

REFUSALS = frozenset({"EPERM", "EACCES", "SIGSYS"})
STARTERS = {"podman": "podman run", "kubernetes": "docker run", "docker": "docker run"}
SYSCTLS = Path("/proc/sys")
MODULES = Path("/lib/modules")


def mend(definition: Definition, seen: Seen, host: Host) -> tuple[str, Fix]:
    """What is missing, and what adds it."""
    if seen.state is State.YES:
        return "", Fix()
    if seen.state is State.UNKNOWN:
        return "an answer", Fix(Way.WORDS, ("run eitherway doctor again on a quieter machine",))
    if definition.device and "on the PATH" not in seen.detail:
        return _device(definition, seen, host)
    if definition.package:
        return definition.name, _package(definition.package, host)
    if refused(seen, host):
        return _refusal(definition, host)
    return definition.needs, Fix(Way.WORDS, (definition.needs,))


def refused(seen: Seen, host: Host) -> bool:
    """Whether somebody said no, as against a kernel that does not know the call.

    Container managers let a filter answer ENOSYS, so that libraries fall back to older calls.
    """
    return seen.error in REFUSALS or (seen.error == "ENOSYS" and host.filtered)


def _package(key: str, host: Host) -> Fix:
    # A kernel package brings this directory; a kernel without it came from somewhere else.
    if key == "kernel-headers" and not MODULES.joinpath(host.kernel).exists():
        return Fix(
            Way.WORDS, (f"the build tree of Linux {host.kernel}, which no package here has",)
        )
    return Fix(Way.PACKAGES, package_names(key, host))


def _device(definition: Definition, seen: Seen, host: Host) -> tuple[str, Fix]:
    path = Path(definition.device)
    if not path.exists() and host.container:
        return definition.device, Fix(Way.FLAGS, (f"--device {definition.device}",))
    if seen.error == "EACCES" or (path.exists() and not _writable(path)):
        return f"access to {path}", Fix(Way.COMMAND, ("sudo usermod -aG kvm $USER",))
    needs = definition.needs or "a KVM that QEMU can use (real or nested virtualisation)"
    return needs, Fix(Way.WORDS, (needs,))


def _writable(path: Path) -> bool:
    try:
        path.open("r+b", buffering=0).close()
    except OSError:
        return False
    return True


def _refusal(definition: Definition, host: Host) -> tuple[str, Fix]:
    lacking = tuple(name for name in definition.privileges if not host.may(name))
    for name, forbidding, permitting in definition.sysctls:
        if not host.root and setting(name) in forbidding:
            return f"{name}={permitting}", Fix(
                Way.COMMAND, (f"sudo sysctl -w {name}={permitting}",)
            )
    missing = [f"CAP_{name}" for name in lacking]
    if host.filtered:
        missing.append("a seccomp filter that permits it")
    if not missing:
        return "leave of the kernel's policy", Fix(Way.WORDS, (_policy(host),))
    return " and ".join(missing), _permission(lacking, host)


def _policy(host: Host) -> str:
    who = "root" if host.root else "this user"
    return f"the kernel's policy (lockdown, security module) refuses it to {who}"


def _permission(lacking: tuple[str, ...], host: Host) -> Fix:
    if not host.filtered and not host.root and all(map(host.root_may, lacking)):
        return Fix(Way.COMMAND, ("sudo eitherway ...",))
    if host.container:
        flags = [f"--cap-add {name}" for name in lacking]
        if host.filtered:
            flags.append("--security-opt seccomp=unconfined")
        return Fix(Way.FLAGS, tuple(flags))
    if host.filtered:
        return Fix(Way.WORDS, ("start it outside the seccomp filter (systemd: SystemCallFilter=)",))
    return Fix(Way.WORDS, (f"a root with {', '.join(f'CAP_{name}' for name in lacking)}",))


def setting(name: str, root: Path = SYSCTLS) -> str:
    """The value of a sysctl; "" where the kernel has none of that name."""
    try:
        return (root / name.replace(".", "/")).read_text().strip()
    except OSError:
        return ""


def commands(fixes: Iterable[Fix], host: Host) -> list[str]:
    """As few commands as mend them all: packages in one, flags in one."""
    items: dict[Way, dict[str, None]] = {way: {} for way in Way}
    for fix in fixes:
        items[fix.way].update(dict.fromkeys(fix.items))
    found = []
    if packages := tuple(items[Way.PACKAGES]):
        found.append(install_command(packages, host))
    if flags := sorted(items[Way.FLAGS]):
        found.append(_start_container(flags, host))
    return [*found, *items[Way.COMMAND], *items[Way.WORDS]]


def _start_container(flags: list[str], host: Host) -> str:
    if host.container in ("lxc", "lxc-libvirt"):
        return "lxc config set NAME security.nesting true"
    if host.container == "systemd-nspawn":
        names = ",".join(f"CAP_{f.split()[1]}" for f in flags if f.startswith("--cap-add"))
        capabilities = f" --capability={names}" if names else ""
        return f"systemd-nspawn{capabilities} --system-call-filter='@mount @debug bpf'"
    return f"{STARTERS.get(host.container, 'docker run')} {' '.join(flags)} ..."
