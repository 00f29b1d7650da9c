# SPDX-License-Identifier: Apache-2.0
"""Whatever a program does inside, somebody who looks from outside sees nothing of it."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.harness import Place, all_end, held, members, snapshot, users_of, watch


@pytest.fixture(autouse=True)
def observed(place: Place) -> Iterator[None]:
    """Files and mounts are the same after every test in this file."""
    tops = (place.home, place.work, place.loose)
    files, mounts = snapshot(*tops), Path("/proc/self/mountinfo").read_text()
    yield
    assert snapshot(*tops) == files
    assert Path("/proc/self/mountinfo").read_text() == mounts


@pytest.mark.parametrize("where", ["home", "work", "loose"])
def test_files_changed_inside_are_not_changed(place: Place, where: str) -> None:
    assert place.act("spoil", getattr(place, where)) == "ok"


def test_a_directory_is_renamed_inside_only(place: Place) -> None:
    answer = place.act("rename-directory", place.work / "dir2", place.work / "dir3")
    # Attributes of an overlay in a user namespace cannot say where a directory came from.
    assert answer == ("ok" if place.user == 0 else "EXDEV")


@pytest.mark.parametrize("path", ["/var/tmp", "/dev/shm", "/tmp"])
def test_shared_directories_are_private(place: Place, path: str) -> None:
    target = Path(path) / f"eitherway-{os.getpid()}-{place.user}"
    assert place.act("write-to", target) == "ok"
    assert not target.exists()


@pytest.mark.parametrize("path", ["/etc", "/usr", "/", "/run"])
def test_system_directories_are_writable_to_whom_they_are(place: Place, path: str) -> None:
    target = Path(path) / f"eitherway-{os.getpid()}"
    assert place.act("write-to", target) == ("ok" if place.user == 0 else "EACCES")
    assert not target.exists()


@pytest.mark.parametrize(
    "path",
    ["/proc/sys/kernel/printk_ratelimit", "/sys/kernel/mm/transparent_hugepage/enabled"],
)
def test_settings_of_the_machine_cannot_be_written(place: Place, path: str) -> None:
    if not os.path.exists(path):
        pytest.skip(f"this kernel has no {path}")
    assert place.act("write-to", path) in ("EROFS", "EACCES")


def test_a_port_inside_is_another(place: Place) -> None:
    with socket.socket() as outside:
        outside.bind(("127.0.0.1", 0))
        outside.listen()
        port = str(outside.getsockname()[1])
        assert place.act("reach", "127.0.0.1", port) == "ECONNREFUSED"
        assert place.act("serve", port) == "ok"
    assert place.act("reach", "192.0.2.1", "80") == "ENETUNREACH"


def test_a_bystander_of_the_same_user_survives_a_kill_of_all(place: Place) -> None:
    bystander = subprocess.Popen(
        ["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=place.user
    )
    assert place.act("kill-all") == "ok"
    output, _ = bystander.communicate(b"alive")
    assert (output, bystander.returncode) == (b"alive", 0)


def test_a_daemon_ends_with_its_sandbox(place: Place) -> None:
    with place.start(
        ["sh", "-c", f"{place.vandal} daemonise; echo $(readlink /proc/self/ns/*); read wait"],
        "--require", "all", stdin=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "daemonise ok\n"
        namespaces = set(process.stdout.readline().split())
        (pid_namespace,) = (link for link in namespaces if link.startswith("pid:"))
        inside = members(pid_namespace)
        assert len(inside) == 3, "init, the shell and the daemon"
        descriptors = watch(inside)
        with held(inside):
            process.stdin.write("\n")
            process.stdin.close()
            process.wait()
            assert all_end(descriptors)
            outside = {os.readlink(path) for path in Path("/proc/self/ns").iterdir()}
            assert users_of(namespaces - outside) == set()


def test_mounts_inside_stay_inside(place: Place) -> None:
    assert place.act("mount-over", place.work) == ("ok" if place.user == 0 else "EPERM")


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (("mount-disk", "/dev/vda", "ext4"), {"EPERM"}),
        (("make-disk", "/tmp/disk"), {"EPERM"}),
        (("trace-init",), {"EPERM"}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_root_inside_is_not_root_of_the_machine(
    place: Place, act: tuple[str, ...], expected: set[str]
) -> None:
    assert place.act(*act) in expected


def test_climbing_out_of_a_chroot_ends_at_the_root_of_the_sandbox(place: Place) -> None:
    assert place.act("climb", place.work) == ("ok" if place.user == 0 else "EPERM")


def test_the_root_of_init_does_not_lead_outside(place: Place) -> None:
    assert place.act("through-init", place.work) in ("EACCES", "EPERM")


def test_an_inherited_directory_is_the_one_inside(place: Place) -> None:
    directory = os.open(place.work, os.O_RDONLY)
    answer = place.act("through-directory", str(directory), pass_fds=[directory])
    os.close(directory)
    assert answer == "ok"


def test_an_inherited_file_is_the_one_inside(place: Place) -> None:
    file = os.open(place.work / "keep", os.O_RDONLY)
    answer = place.act("through-file", str(file), pass_fds=[file])
    os.close(file)
    assert answer == "ok"


def test_devices_that_keep_something_are_not_there(place: Place) -> None:
    ran = place.run(["find", "/dev", "-xdev", "(", "-type", "b", "-o", "-name", "kmsg", ")"])
    assert (ran.output, ran.status) == ("", 0)
    ran = place.run(["sh", "-c", "echo gone > /dev/null && head -c 3 /dev/zero | wc -c"])
    assert (ran.output.strip(), ran.errors) == ("3", "")


def test_a_socket_outside_cannot_be_reached_by_its_path(place: Place) -> None:
    with socket.socket(socket.AF_UNIX) as outside:
        path = place.home.parent / "socket"
        outside.bind(str(path))
        path.chmod(0o777)
        outside.listen()
        script = "import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        ran = place.run(["/usr/bin/python3", "-c", script, path])
    assert ran.status == 1
    assert "ConnectionRefusedError" in ran.errors
