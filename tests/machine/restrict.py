# SPDX-License-Identifier: Apache-2.0
"""Makes this process what a container would make it: fewer capabilities, a seccomp filter."""

import ctypes
import os
import struct
from collections.abc import Callable

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 24, 38, 22
SECCOMP_MODE_FILTER = 2
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
NOBODY = 65534
CAPABILITY_VERSION = 0x20080522
LAST_CAPABILITY = 40

# What Docker 24 gives a container's root: CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID
# SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP.
DEFAULT_CAPABILITIES = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31})

# x86-64 numbers of the calls that Docker's default profile refuses without CAP_SYS_ADMIN and such.
REFUSED = {
    "mount": 165, "umount2": 166, "pivot_root": 155, "swapon": 167, "reboot": 169,
    "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
    "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "setns": 308,
    "perf_event_open": 298, "bpf": 321, "userfaultfd": 323, "pidfd_getfd": 438,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "mount_setattr": 442,
}  # fmt: skip
CLONE, CLONE3, PERSONALITY, PTRACE, PROCESS_VM_READV = 56, 435, 135, 101, 310
SECCOMP = 317
NAMESPACE_FLAGS = 0x7E020000
PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16

Code = list[tuple[int, int, int, int]]


def answer_call(number: int, action: int) -> Code:
    """This action for one call."""
    return [(EQUAL, 0, 1, number), (RETURN, 0, 0, action)]


def docker() -> Code:
    """Docker's default profile, as far as our mechanisms meet it."""
    code: Code = []
    for number in REFUSED.values():
        code += answer_call(number, ERRNO | EPERM)
    code += answer_call(CLONE3, ERRNO | ENOSYS)
    code += [
        (EQUAL, 0, 4, CLONE),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (ANY_BIT, 0, 1, NAMESPACE_FLAGS),
        (RETURN, 0, 0, ERRNO | EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
    code += [(EQUAL, 0, len(PERSONALITIES) + 3, PERSONALITY), (LOAD, 0, 0, FIRST_ARGUMENT_AT)]
    left = len(PERSONALITIES)
    for value in PERSONALITIES:
        code.append((EQUAL, left, 0, value))
        left -= 1
    return [*code, (RETURN, 0, 0, ERRNO | EPERM), (RETURN, 0, 0, ALLOW)]


FILTERS: dict[str, Callable[[], Code]] = {
    "none": list,
    "docker": docker,
    "docker-no-ptrace": lambda: [
        *answer_call(PTRACE, ERRNO | EPERM),
        *answer_call(PROCESS_VM_READV, ERRNO | EPERM),
        *docker(),
    ],
    "no-seccomp": lambda: answer_call(SECCOMP, ERRNO | EPERM),
    "kill-bpf": lambda: answer_call(REFUSED["bpf"], KILL),
}


def restrict(filter_name: str, *, nobody: bool) -> None:
    """Lose what a container's process does not have; there is no way back."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        drop_capabilities(libc, nobody=nobody)
    prctl(libc, PR_SET_NO_NEW_PRIVS, 1)
    if code := FILTERS[filter_name]():
        install(libc, code)


def drop_capabilities(libc: ctypes.CDLL, *, nobody: bool) -> None:
    """To those of Docker's root, or with another user to none."""
    for number in set(range(LAST_CAPABILITY + 1)) - DEFAULT_CAPABILITIES:
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # one the kernel does not know is fine
    if nobody:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        return
    with open("/proc/self/status", encoding="ascii") as status:
        (permitted,) = (int(line.split()[1], 16) for line in status if line.startswith("CapPrm:"))
    mask = permitted & sum(1 << number for number in DEFAULT_CAPABILITIES)
    header = struct.pack("<Ii", CAPABILITY_VERSION, 0)
    sets = struct.pack(
        "<6I", mask, mask, 0, 0, 0, 0
    )  # effective, permitted, inheritable; high bits
    if libc.capset(header, sets) < 0:
        raise OSError(ctypes.get_errno(), "capset")


def install(libc: ctypes.CDLL, code: Code) -> None:
    """The filter, for this process and all that come from it."""
    whole = [(LOAD, 0, 0, NUMBER_AT), *code, (RETURN, 0, 0, ALLOW)]
    blob = b"".join(struct.pack("<HBBI", *instruction) for instruction in whole)
    program = ctypes.create_string_buffer(blob, len(blob))
    head = ctypes.create_string_buffer(struct.pack("<H6xQ", len(whole), ctypes.addressof(program)))
    prctl(libc, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(head))


def prctl(libc: ctypes.CDLL, *arguments: object) -> None:
    """prctl that must work."""
    if libc.prctl(*arguments, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), f"prctl({arguments[0]})")
