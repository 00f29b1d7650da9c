# SPDX-License-Identifier: Apache-2.0
"""The table of capabilities: what each is for, what it needs, what is lost without it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from eitherway.machine import compilers, symbolizers, tools
from eitherway.machine.capability import Seen
from eitherway.model.words import World

T, P, K = World.THREADS, World.PROCESSES, World.KERNEL


@dataclass(frozen=True, slots=True)
class Definition:
    """`probe` is None for those that eitherway-probe does under the same name.

    `privileges` are the Linux capabilities that permit it, `needs` what a kernel or machine must
    have, `package` a key of the table of packages, `sysctls` settings that can forbid it with the
    values that do.
    """

    name: str
    worlds: tuple[World, ...]
    purpose: str
    lost: str
    probe: Callable[[], Seen] | None = None
    privileges: tuple[str, ...] = ()
    needs: str = ""
    package: str = ""
    sysctls: tuple[
        tuple[str, tuple[str, ...], str], ...
    ] = ()  # name, forbidding values, permitting
    device: str = ""


USER_NAMESPACES = (
    ("kernel.unprivileged_userns_clone", ("0",), "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", ("1",), "0"),
    ("user.max_user_namespaces", ("0",), "10000"),
)
PERF = (("kernel.perf_event_paranoid", ("3", "4"), "2"),)
YAMA = (("kernel.yama.ptrace_scope", ("2", "3"), "1"),)
NO_BRANCH = "trying an order in a copy of the file system"
NO_BPF = "recording without stopping the program"
BPF = ("BPF", "PERFMON")
ADMIN = ("SYS_ADMIN",)
TRACE = ("SYS_PTRACE",)  # not needed for own children, but filters let it through with this


def _compiler(name: str, lost: str) -> Definition:
    probe = partial(compilers.probe_compiler, name)
    worlds = (T,) if name.endswith("++") else (T, K)
    return Definition(name, worlds, "builds programs to control", lost, probe, package=name)


def _namespace(name: str, what: str, lost: str, needs: str = "Linux 3.8") -> tuple[Definition, ...]:
    """Two rows: as the caller is, and as root of a user namespace."""
    worlds = (P,) if name in ("pid-ns", "set-tid", "proc-mount") else (T, P)
    return (
        Definition(name, worlds, what, lost, privileges=ADMIN, needs=needs),
        Definition(
            f"user-{name}",
            worlds,
            f"{what}, in a user namespace",
            lost,
            needs=needs,
            sysctls=USER_NAMESPACES,
        ),
    )


DEFINITIONS: tuple[Definition, ...] = (
    _compiler("gcc", "programs built with gcc"),
    _compiler("g++", "C++ programs built with gcc"),
    _compiler("clang", "programs built with clang"),
    _compiler("clang++", "C++ programs built with clang"),
    Definition(
        "llvm-symbolizer",
        (T, K),
        "source lines with columns",
        "columns, and speed on large programs",
        symbolizers.probe_llvm_symbolizer,
        package="llvm",
    ),
    Definition(
        "addr2line",
        (T, K),
        "source lines",
        "source lines where there is no llvm-symbolizer",
        symbolizers.probe_addr2line,
        package="binutils",
    ),
    Definition(
        "libdw",
        (T, K),
        "source lines, from a library",
        "source lines where there is no other symbolizer",
        symbolizers.probe_libdw,
        package="libdw",
    ),
    Definition(
        "libc-debug",
        (T,),
        "source lines inside libc",
        "files and lines of frames inside libc",
        tools.probe_libc_debug,
        package="libc-debug",
    ),
    Definition(
        "gdb", (T,), "a debugger on a replay", "replay --gdb", tools.probe_gdb, package="gdb"
    ),
    Definition(
        "make",
        (P,),
        "rules of a Makefile",
        "the prerequisite line to add to a Makefile",
        tools.probe_make,
        package="make",
    ),
    Definition(
        "ptrace",
        (P,),
        "stop and release a process",
        "any control of processes",
        privileges=TRACE,
        sysctls=YAMA,
        needs="ptrace",
    ),
    Definition(
        "ptrace-syscall",
        (P,),
        "stop at system calls",
        "replay and flip of system calls",
        privileges=TRACE,
        sysctls=YAMA,
        needs="Linux 5.3 (PTRACE_GET_SYSCALL_INFO)",
    ),
    Definition(
        "seccomp-filter",
        (P,),
        "choose system calls cheaply",
        "recording that stops at chosen calls only",
        needs="Linux 3.17 with CONFIG_SECCOMP_FILTER",
    ),
    Definition(
        "seccomp-trace",
        (P,),
        "stop at chosen system calls only",
        "recording that stops at chosen calls only",
        privileges=TRACE,
        sysctls=YAMA,
        needs="Linux 4.8 with CONFIG_SECCOMP_FILTER",
    ),
    Definition(
        "bpf-map",
        (P,),
        "tables shared with BPF programs",
        NO_BPF,
        privileges=BPF,
        needs="Linux 5.8",
    ),
    Definition("bpf-ringbuf", (P,), "records to disk", NO_BPF, privileges=BPF, needs="Linux 5.8"),
    Definition(
        "bpf-task-storage",
        (P,),
        "know which processes are ours",
        NO_BPF,
        privileges=BPF,
        needs="Linux 5.11 with CONFIG_DEBUG_INFO_BTF",
    ),
    Definition(
        "bpf-tp-btf",
        (P,),
        "see every system call without stopping it",
        NO_BPF,
        privileges=BPF,
        needs="Linux 5.8 with CONFIG_DEBUG_INFO_BTF",
    ),
    Definition(
        "bpf-fentry",
        (P,),
        "order of calls inside the kernel",
        "the exact order of calls that overlap in time",
        privileges=BPF,
        needs="Linux 5.5 with CONFIG_DEBUG_INFO_BTF and CONFIG_FUNCTION_TRACER",
    ),
    Definition(
        "user-ns",
        (T, P),
        "namespaces without root",
        "isolation without root",
        sysctls=USER_NAMESPACES,
        needs="Linux 3.8 with CONFIG_USER_NS",
    ),
    *_namespace("pid-ns", "pids of its own", "the same pids in every branch"),
    *_namespace("mount-ns", "mounts of its own", NO_BRANCH),
    *_namespace("proc-mount", "/proc of the branch's pids", NO_BRANCH),
    *_namespace("net-ns", "ports of its own", "several runs of one server at a time"),
    *_namespace("set-tid", "choose a pid", "the same pids in every branch", "Linux 5.5"),
    *_namespace("overlay-dir", "writes to a directory kept apart", NO_BRANCH, "Linux 5.11"),
    Definition(
        "overlay-root",
        (T, P),
        "writes to all of / kept apart",
        NO_BRANCH,
        privileges=ADMIN,
        needs="a kernel with CONFIG_OVERLAY_FS",
    ),
    Definition(
        "user-overlay-root",
        (T, P),
        "writes to all of / kept apart, in a user namespace",
        "nothing where user-overlay-tops works",
        sysctls=USER_NAMESPACES,
        needs="a / with nothing mounted below it, Linux 5.11",
    ),
    Definition(
        "user-overlay-tops",
        (T, P),
        "writes to each top directory kept apart",
        NO_BRANCH,
        sysctls=USER_NAMESPACES,
        needs="Linux 5.11 with CONFIG_OVERLAY_FS",
    ),
    Definition(
        "aslr",
        (T, P),
        "the same addresses in every run",
        "equal addresses in run and replay",
        needs="Linux 2.6.12",
    ),
    Definition(
        "uffd-wp",
        (T,),
        "notice written pages",
        "fast comparison of large states",
        needs="Linux 6.7 with CONFIG_USERFAULTFD",
        privileges=TRACE,
    ),
    Definition(
        "pagemap-scan",
        (T,),
        "list written pages",
        "fast comparison of large states",
        needs="Linux 6.7 with CONFIG_USERFAULTFD",
        privileges=TRACE,
    ),
    Definition(
        "soft-dirty",
        (T,),
        "list written pages, older way",
        "fast comparison where userfaultfd is refused",
        needs="a kernel with CONFIG_MEM_SOFT_DIRTY",
    ),
    Definition(
        "pagemap-pfn",
        (T,),
        "tell shared pages from private ones",
        "fast comparison where userfaultfd is refused",
        privileges=ADMIN,
        needs="a kernel with CONFIG_PROC_PAGE_MONITOR",
    ),
    Definition(
        "proc-mem",
        (T, P),
        "read and write memory of a branch",
        "comparison of memory",
        needs="/proc/PID/mem",
        privileges=TRACE,
        sysctls=YAMA,
    ),
    Definition(
        "process-vm",
        (T, P),
        "read memory of a branch, other way",
        "a second way to read memory",
        needs="Linux 3.2",
        privileges=TRACE,
        sysctls=YAMA,
    ),
    Definition(
        "thp",
        (T,),
        "cheap checkpoints of large programs",
        "forks of large programs in under a millisecond",
        needs="/sys/kernel/mm/transparent_hugepage/enabled set to madvise or always",
    ),
    Definition(
        "fsgsbase",
        (T,),
        "switch threads without a system call",
        "thread switches without a system call",
        needs="Linux 5.9 on a CPU with FSGSBASE",
    ),
    Definition(
        "watchpoint",
        (T, K),
        "watch one word in an unmodified program",
        "watching memory of unmodified programs",
        privileges=("PERFMON",),
        sysctls=PERF,
        needs="Linux 5.13 with CONFIG_HAVE_HW_BREAKPOINT, and debug registers",
    ),
    Definition(
        "pidfd",
        (T, P),
        "a process that cannot be mistaken",
        "taking over files of a branch",
        needs="Linux 5.6",
    ),
    Definition(
        "memfd",
        (T, P),
        "memory shared with a target",
        "shared buffers without a file",
        needs="Linux 3.17",
    ),
    Definition(
        "qemu-kvm",
        (K,),
        "a guest at full speed",
        "guests at full speed",
        partial(tools.probe_qemu, "kvm"),
        package="qemu",
        device="/dev/kvm",
    ),
    Definition(
        "qemu-tcg",
        (K,),
        "an emulated guest",
        "a guest to try kernel orders in",
        partial(tools.probe_qemu, "tcg"),
        package="qemu",
    ),
    Definition(
        "kvm",
        (K,),
        "a guest at full speed",
        "guests at full speed",
        device="/dev/kvm",
        needs="virtualisation switched on in the firmware, or nested virtualisation",
    ),
    Definition(
        "kernel-headers",
        (K,),
        "a module for this kernel",
        "a module for the running kernel",
        tools.probe_kernel_headers,
        package="kernel-headers",
    ),
    Definition(
        "module",
        (K,),
        "load a module here",
        "kernel work outside a guest",
        privileges=("SYS_MODULE",),
        needs="a kernel with CONFIG_MODULES",
        sysctls=(("kernel.modules_disabled", ("1",), "0 (at boot)"),),
    ),
    Definition(
        "kprobe",
        (K,),
        "stop at an instruction of the kernel",
        "kernel work outside a guest",
        privileges=("PERFMON",),
        sysctls=PERF,
        needs="a kernel with CONFIG_KPROBES",
    ),
    Definition(
        "counters",
        (),
        "nothing: EitherWay needs no hardware counters",
        "nothing in EitherWay (rr needs them)",
        privileges=("PERFMON",),
        sysctls=PERF,
        needs="a machine that shows its performance counters",
    ),
)
