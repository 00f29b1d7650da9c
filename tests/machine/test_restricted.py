# SPDX-License-Identifier: Apache-2.0
"""`eitherway doctor` under the restrictions of containers, emulated: the same on any machine."""

import os
from pathlib import Path

import pytest
from tests.machine.harness import Doctor, RunDoctor

DOCKER = {"container": "docker"}  # the sign that container managers set

REFUSED_BY_DOCKER = {
    "bpf-map": "EPERM",
    "bpf-ringbuf": "EPERM",
    "bpf-task-storage": "EPERM",
    "bpf-tp-btf": "EPERM",
    "user-ns": "EPERM",
    "pid-ns": "EPERM",
    "user-pid-ns": "EPERM",
    "mount-ns": "EPERM",
    "user-mount-ns": "EPERM",
    "proc-mount": "EPERM",
    "user-proc-mount": "EPERM",
    "net-ns": "EPERM",
    "user-net-ns": "EPERM",
    "set-tid": "EPERM",
    "user-set-tid": "EPERM",
    "overlay-dir": "EPERM",
    "user-overlay-dir": "EPERM",
    "overlay-root": "EPERM",
    "user-overlay-root": "EPERM",
    "user-overlay-tops": "EPERM",
    "watchpoint": "EPERM",
    "module": "EPERM",
    "pidfd": "EPERM",
}


def no_probe_crashed(doctor: Doctor, *, excused: frozenset[str] = frozenset()) -> None:
    unknown = {row["name"]: row["detail"] for row in doctor.document["capabilities"]
               if row["state"] == "unknown"}  # fmt: skip
    assert not unknown.keys() - excused, unknown


@pytest.mark.parametrize("nobody", [False, True], ids=["root", "nobody"])
def test_a_default_container_gets_its_fallbacks(run_doctor: RunDoctor, nobody: bool) -> None:
    doctor = run_doctor(filter_name="docker", nobody=nobody, environ=DOCKER)
    # As another user the interpreter itself may be out of reach, and libdw is asked through it.
    no_probe_crashed(doctor, excused=frozenset({"libdw"}) if nobody else frozenset())
    for name, error in REFUSED_BY_DOCKER.items():
        assert (doctor.row(name)["state"], doctor.row(name)["error"]) == ("no", error), name
        assert doctor.row(name)["fix"].startswith("docker run "), name
        assert "--security-opt seccomp=unconfined" in doctor.row(name)["fix"], name
    assert doctor.role("processes", "recorder")["in_force"] == "ptrace with seccomp"
    assert doctor.role("processes", "branches")["in_force"] == "find only"
    assert doctor.role("processes", "pids")["in_force"] == "matched by fork order"
    assert doctor.role("processes", "network")["in_force"] == "no branches"
    assert doctor.role("threads", "isolation")["in_force"] == "captured writes"
    assert doctor.role("threads", "watchpoints")["in_force"] == "none"
    assert doctor.verdict("processes") == doctor.verdict("threads") == "works with fallbacks"
    assert (doctor.status, doctor.errors) == (0, "")
    assert doctor.document["host"]["seccomp_filter"] is True


def test_the_flags_of_a_container_are_one_command(run_doctor: RunDoctor) -> None:
    doctor = run_doctor(filter_name="docker", environ=DOCKER)
    output = doctor.output.replace("\\\n", "")
    commands = [line.split() for line in output.splitlines() if "docker run" in line]
    assert len(commands) == 1
    words = " ".join(commands[0])
    for flag in ("BPF", "PERFMON", "SYS_ADMIN"):
        assert words.count(f"--cap-add {flag} ") == 1
    assert words.count("--security-opt seccomp=unconfined") == 1


def test_addresses_are_tolerated_where_personality_is_refused(run_doctor: RunDoctor) -> None:
    doctor = run_doctor(filter_name="docker", nobody=True, environ=DOCKER)
    row = doctor.row("aslr")
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        assert row["state"] == "yes"
    else:
        assert (row["state"], row["error"]) == ("no", "EPERM")
        for world in ("threads", "processes"):
            assert doctor.role(world, "addresses")["in_force"] == "tolerated: ASLR stays on"


def test_pages_are_compared_where_userfaultfd_is_refused(run_doctor: RunDoctor) -> None:
    doctor = run_doctor(filter_name="docker", nobody=True, environ=DOCKER)
    if os.path.exists("/dev/userfaultfd") and doctor.row("uffd-wp")["state"] == "yes":
        assert "/dev/userfaultfd" in doctor.row("uffd-wp")["detail"]
        return
    for name in ("uffd-wp", "pagemap-scan"):
        assert (doctor.row(name)["state"], doctor.row(name)["error"]) == ("no", "EPERM")
    others = {"soft-dirty": "soft-dirty bits", "pagemap-pfn": "page frame numbers"}
    expected = [label for name, label in others.items() if doctor.row(name)["state"] == "yes"]
    in_force = doctor.role("threads", "changed pages")["in_force"]
    assert in_force == [*expected, "page comparison"][0]


@pytest.mark.parametrize("nobody", [False, True], ids=["root", "nobody"])
def test_without_ptrace_and_bpf_processes_cannot_work(run_doctor: RunDoctor, nobody: bool) -> None:
    doctor = run_doctor(filter_name="docker-no-ptrace", nobody=nobody, environ=DOCKER)
    for name in ("ptrace", "ptrace-syscall", "seccomp-trace", "process-vm"):
        assert (doctor.row(name)["state"], doctor.row(name)["error"]) == ("no", "EPERM"), name
    assert doctor.row("seccomp-filter")["state"] == "yes"
    assert doctor.role("processes", "recorder")["grade"] == "none"
    assert doctor.verdict("processes") == "cannot work"
    assert doctor.status == 69
    assert "no recorder: EPERM: PTRACE_SEIZE" in doctor.errors
    assert "docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined" in doctor.errors


def test_only_the_asked_worlds_decide_the_exit_code(run_doctor: RunDoctor) -> None:
    doctor = run_doctor("--world", "threads", filter_name="docker-no-ptrace", environ=DOCKER)
    assert doctor.verdict("processes") == "cannot work"
    assert (doctor.status, doctor.errors) == (0, "")


def test_a_filter_that_kills_is_a_refusal_and_not_a_crash(run_doctor: RunDoctor) -> None:
    doctor = run_doctor(filter_name="kill-bpf", environ=DOCKER)
    assert (doctor.row("bpf-map")["state"], doctor.row("bpf-map")["error"]) == ("no", "SIGSYS")
    assert doctor.role("processes", "recorder")["in_force"] == "ptrace with seccomp"
    no_probe_crashed(doctor)


def test_outside_a_container_a_filter_is_not_mended_by_docker(run_doctor: RunDoctor) -> None:
    doctor = run_doctor(filter_name="docker", environ={"container": ""})
    if doctor.document["host"]["container"] is None:
        assert "seccomp filter" in doctor.row("user-ns")["fix"]
        assert "docker" not in doctor.row("user-ns")["fix"]


def test_another_user_without_capabilities(run_doctor: RunDoctor) -> None:
    doctor = run_doctor(nobody=True)
    if doctor.document["host"]["root"]:
        pytest.fail("the runner did not change the user")
    no_probe_crashed(doctor, excused=frozenset({"libdw"}))
    assert doctor.row("pagemap-pfn")["state"] == "no"
    assert doctor.row("pid-ns")["state"] == "no"
    assert doctor.verdict("processes") != "cannot work" or doctor.row("ptrace")["state"] == "no"


def test_no_compiler_on_the_path(run_doctor: RunDoctor, tmp_path: Path) -> None:
    doctor = run_doctor(environ={"PATH": str(tmp_path)})
    assert doctor.row("gcc")["detail"] == "no gcc on the PATH"
    assert doctor.verdict("threads") == "cannot work"
    assert doctor.status == 69
    assert "no compiler: no gcc on the PATH" in doctor.errors
    assert "gcc" in doctor.errors.partition("try: ")[2]
    assert doctor.role("threads", "C++ compiler")["in_force"] == "C only"
    assert doctor.role("threads", "symbols")["grade"] == "fallback"
    for name in ("gdb", "make", "qemu-tcg", "addr2line"):
        assert doctor.row(name)["state"] == "no"
        assert doctor.row(name)["fix"]
