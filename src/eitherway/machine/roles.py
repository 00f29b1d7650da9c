# SPDX-License-Identifier: Apache-2.0
"""The jobs of each world, the mechanisms that can do each, and the one in force on this machine.

Every job has its mechanisms in the order we like them. The last ones often need nothing: that is
the stated fallback. Figures are from the measurements behind the design.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from eitherway.machine.capability import Seen, State
from eitherway.model.words import World


class Grade(StrEnum):
    """How good what is in force is."""

    BEST = "best"
    FALLBACK = "fallback"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Mechanism:
    """`needs` are capabilities; in `label`, {name} stands for what the probe of that name saw.

    `lost` is what goes without the better ones; a mechanism that loses nothing is one of the best.
    """

    label: str
    needs: tuple[str, ...] = ()
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """`required`: without any of its mechanisms the world cannot work. `extra`: nice to have."""

    world: World
    name: str
    mechanisms: tuple[Mechanism, ...]
    required: bool = False
    extra: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """The mechanism in force for a role. `lacking` are the capabilities that would better it."""

    role: Role
    grade: Grade
    in_force: str
    lost: str
    lacking: tuple[str, ...]

    @property
    def blocks(self) -> bool:
        """Whether the world cannot work because of it."""
        return self.grade is Grade.NONE and self.role.required


def choose(role: Role, seen: Mapping[str, Seen]) -> Chosen:
    """The first mechanism all of whose needs are there; a whole one before one that is partly."""
    usable = [m for m in role.mechanisms if all(seen[name].usable for name in m.needs)]
    if not usable:
        lost = "the whole world" if role.required else role.mechanisms[0].label
        return Chosen(role, Grade.NONE, "nothing", lost, _least(role.mechanisms, seen))
    details = {name: answer.detail for name, answer in seen.items()}
    best = next((m for m in usable if not m.lost and not _halves(m, seen)), None)
    if best is not None:
        return Chosen(role, Grade.BEST, best.label.format_map(details), "", ())
    mechanism = usable[0]
    lost = mechanism.lost or "; ".join(details[name] for name in _halves(mechanism, seen))
    label = mechanism.label.format_map(details)
    return Chosen(role, Grade.FALLBACK, label, lost, nearest(role, seen))


def _halves(mechanism: Mechanism, seen: Mapping[str, Seen]) -> list[str]:
    return [name for name in mechanism.needs if seen[name].state is State.PARTLY]


def nearest(role: Role, seen: Mapping[str, Seen]) -> tuple[str, ...]:
    """What is missing for the best mechanism that misses least."""
    return _least([mechanism for mechanism in role.mechanisms if not mechanism.lost], seen)


def _least(mechanisms: Sequence[Mechanism], seen: Mapping[str, Seen]) -> tuple[str, ...]:
    lacks = (
        tuple(name for name in mechanism.needs if seen[name].state is not State.YES)
        for mechanism in mechanisms
    )
    return min(lacks, key=len, default=())


T, P, K = World.THREADS, World.PROCESSES, World.KERNEL
IN_USER = "in a user namespace"
DIFFERING_ADDRESSES = "addresses in a replay differ; they are compared relative to their mappings"


def _addresses(world: World) -> Role:
    return Role(
        world,
        "addresses",
        (
            Mechanism("the same in every run (ASLR off)", ("aslr",)),
            Mechanism("tolerated: ASLR stays on", lost=DIFFERING_ADDRESSES),
        ),
    )


ROLES: tuple[Role, ...] = (
    Role(
        T,
        "compiler",
        (Mechanism("{gcc}", ("gcc",)), Mechanism("{clang}", ("clang",))),
        required=True,
    ),
    Role(
        T,
        "C++ compiler",
        (
            Mechanism("{g++}", ("g++",)),
            Mechanism("{clang++}", ("clang++",)),
            Mechanism("C only", lost="C++ programs cannot be built"),
        ),
    ),
    Role(
        T,
        "symbols",
        (
            Mechanism("{llvm-symbolizer}", ("llvm-symbolizer",)),
            Mechanism("{addr2line}", ("addr2line",), lost="no columns"),
            Mechanism("{libdw}", ("libdw",), lost="no columns"),
            Mechanism("symbol table", lost="reports name functions, not files and lines"),
        ),
    ),
    _addresses(T),
    Role(
        T,
        "isolation",
        (
            Mechanism("overlay of / in namespaces", ("mount-ns", "overlay-root")),
            Mechanism(f"overlay of / {IN_USER}", ("user-mount-ns", "user-overlay-root")),
            Mechanism(
                f"overlays of /* {IN_USER}", ("user-ns", "user-mount-ns", "user-overlay-tops")
            ),
            Mechanism(
                "captured writes",
                lost="writes of children that are not instrumented reach the real files",
            ),
        ),
    ),
    Role(
        T,
        "ports",
        (
            Mechanism("network namespace", ("net-ns",)),
            Mechanism(f"network {IN_USER}", ("user-net-ns",)),
            Mechanism("shared", lost="runs of one server wait for each other's ports"),
        ),
    ),
    Role(
        T,
        "checkpoints",
        (
            Mechanism("fork, heap in huge pages", ("thp",)),
            Mechanism("fork, 4 KiB pages", lost="a fork of 800 MB takes 23 ms, not 0.3 ms"),
        ),
    ),
    Role(
        T,
        "changed pages",
        (
            Mechanism("userfaultfd and PAGEMAP_SCAN", ("uffd-wp", "pagemap-scan")),
            Mechanism("soft-dirty bits", ("soft-dirty",), lost="one tracker per process"),
            Mechanism(
                "page frame numbers", ("pagemap-pfn",), lost="4-25 ms per 200 MB, not 0.1 ms"
            ),
            Mechanism("page comparison", lost="200 MB take 200 ms to compare, not 0.1 ms"),
        ),
    ),
    Role(
        T,
        "branch memory",
        (
            Mechanism("/proc/PID/mem", ("proc-mem",)),
            Mechanism("process_vm_readv", ("process-vm",), lost="reading un-shares pages"),
            Mechanism("not read", lost="only output and exit of branches are compared"),
        ),
    ),
    Role(
        T,
        "thread switch",
        (
            Mechanism("wrfsbase", ("fsgsbase",)),
            Mechanism("arch_prctl", lost="a system call for every switch of threads"),
        ),
    ),
    Role(
        T,
        "watchpoints",
        (
            Mechanism("perf, with a signal", ("watchpoint",)),
            Mechanism("none", lost="memory of unmodified programs cannot be watched"),
        ),
    ),
    Role(
        T,
        "debugger",
        (Mechanism("{gdb}", ("gdb",)), Mechanism("none", lost="no replay --gdb")),
        extra=True,
    ),
    Role(
        T,
        "libc lines",
        (
            Mechanism("debug information", ("libc-debug",)),
            Mechanism("symbol table", lost="frames inside libc have no file and line"),
        ),
        extra=True,
    ),
    Role(
        P,
        "recorder",
        (
            Mechanism("BPF", ("bpf-map", "bpf-ringbuf", "bpf-task-storage", "bpf-tp-btf")),
            Mechanism(
                "ptrace with seccomp",
                ("ptrace", "ptrace-syscall", "seccomp-filter", "seccomp-trace"),
                lost="a build takes 1.7x, tar 10x (BPF: 1.1x, 1.5x); setuid is ignored",
            ),
            Mechanism(
                "ptrace at every call",
                ("ptrace", "ptrace-syscall"),
                lost="a build takes 2x, tar 12x (BPF: 1.1x, 1.5x)",
            ),
        ),
        required=True,
    ),
    Role(
        P,
        "branches",
        (
            Mechanism(
                "overlay of / in namespaces",
                ("ptrace-syscall", "pid-ns", "mount-ns", "proc-mount", "overlay-root"),
            ),
            Mechanism(
                f"overlays of /* {IN_USER}",
                (
                    "ptrace-syscall",
                    "user-ns",
                    "user-pid-ns",
                    "user-mount-ns",
                    "user-proc-mount",
                    "user-overlay-tops",
                ),
            ),
            Mechanism(
                "find only",
                lost="no other order is tried, and the recorded run changes the real files",
            ),
        ),
    ),
    Role(
        P,
        "pids",
        (
            Mechanism("the same in every branch", ("pid-ns", "set-tid")),
            Mechanism(f"the same, {IN_USER}", ("user-pid-ns", "user-set-tid")),
            Mechanism(
                "matched by fork order", lost="programs that show or keep pids differ in a branch"
            ),
        ),
    ),
    _addresses(P),
    Role(
        P,
        "network",
        (
            Mechanism("network namespace", ("net-ns",)),
            Mechanism(f"network {IN_USER}", ("user-net-ns",)),
            Mechanism("no branches", lost="programs that use the network are recorded only"),
        ),
    ),
    Role(
        P,
        "make rules",
        (
            Mechanism("{make}", ("make",)),
            Mechanism("none", lost="no prerequisite line to add is named"),
        ),
        extra=True,
    ),
    Role(
        P,
        "call order",
        (
            Mechanism("exact (BPF at function entry)", ("bpf-fentry",)),
            Mechanism("times of entry and exit", lost="calls that overlap have no known order"),
        ),
        extra=True,
    ),
    Role(
        K,
        "guest",
        (
            Mechanism("{qemu-kvm}", ("qemu-kvm",)),
            Mechanism("{qemu-tcg}", ("qemu-tcg",), lost="the guest is emulated: it boots in 4 s"),
            Mechanism(
                "this machine's own kernel",
                ("module", "kprobe", "watchpoint"),
                lost="a mistake stops this machine",
            ),
        ),
        required=True,
    ),
    Role(
        K,
        "module",
        (
            Mechanism("built for this kernel", ("kernel-headers", "gcc")),
            Mechanism("built for a guest kernel", ("gcc",), lost="its headers must be downloaded"),
        ),
        required=True,
    ),
)
