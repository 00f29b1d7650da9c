# SPDX-License-Identifier: Apache-2.0
"""Distribution and signs of a container, from trees that look like other machines."""

from pathlib import Path

import pytest

from eitherway.machine.host import container_signs, installer, os_release, read_host


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "environ", "expected"),
    [
        ({}, {}, ""),
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({"run/systemd/container": "systemd-nspawn\n"}, {}, "systemd-nspawn"),
        ({"proc/1/cgroup": "0::/lxc/web\n"}, {}, "lxc"),
        ({"proc/1/cgroup": "1:cpu:/docker/0123abcd\n"}, {}, "docker"),
        ({"proc/1/cgroup": "1:cpu:/kubepods/pod1\n"}, {}, "kubernetes"),
        ({"proc/1/cgroup": "0::/init.scope\n"}, {}, ""),
        ({}, {"container": "lxc"}, "lxc"),
        ({".dockerenv": ""}, {"container": "podman"}, "podman"),
    ],
)
def test_containers(
    tmp_path: Path, files: dict[str, str], environ: dict[str, str], expected: str
) -> None:
    kind, signs = container_signs(plant(tmp_path, files), environ)
    assert kind == expected
    assert bool(signs) == bool(expected)


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("ID=debian\n", "apt"),
        ("ID=ubuntu\nID_LIKE=debian\n", "apt"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt"),
        ("ID=fedora\n", "dnf"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf"),
        ("ID=arch\n", "pacman"),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "zypper"),
        ("ID=plan9\n", ""),
        ('NAME="unfinished\nnonsense\n=\n', ""),
        ("", ""),
    ],
)
def test_package_managers(tmp_path: Path, release: str, expected: str) -> None:
    assert installer(os_release(plant(tmp_path, {"etc/os-release": release}))) == expected


def test_privileges_and_filter_are_read(tmp_path: Path) -> None:
    status = f"CapEff:\t{1 << 21:016x}\nCapBnd:\t{1 << 39:016x}\nSeccomp:\t2\n"
    host = read_host(plant(tmp_path, {"proc/self/status": status}), {})
    assert host.may("SYS_ADMIN")
    assert not host.may("BPF")
    assert host.root_may("BPF")
    assert host.filtered


def test_an_empty_machine_is_still_a_machine(tmp_path: Path) -> None:
    host = read_host(tmp_path, {})
    assert (host.system, host.installer, host.container) == (
        "Linux of unknown distribution",
        "",
        "",
    )
    assert not host.filtered
