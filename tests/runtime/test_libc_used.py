# SPDX-License-Identifier: Apache-2.0
"""What the runtime itself needs of the C library: nothing that waits, or allocates behind a back.

What it takes over it does not call by that name: its own calls are those of own.c, or go to libc's
function by its address.
"""

import fnmatch
import subprocess

from eitherway.worlds.threads.cc.link import parts

USED = {
    "__errno_location": "errno, where the contract of a function says so",
    "__ctype_b_loc __ctype_tolower_loc": "tables",
    "__libc_current_sigrtmin sigaddset sigemptyset sigfillset": "arguments only",
    "__libc_malloc __libc_calloc __libc_realloc __libc_free": "the program's own malloc, once told",
    "malloc_usable_size mallinfo2 mallopt": "the heap: asked about blocks of the program's",
    "__libc_stack_end getauxval program_invocation_*name environ": "how the program was started",
    "dlsym dladdr dladdr1 dl_iterate_phdr __tls_get_addr": "the loader: where things are",
    "atexit at_quick_exit on_exit pthread_atfork": "handlers, which are the program's too",
    "exit __chk_fail": "ends the program",
    "fdopen fileno dirfd stdin stdout stderr": "streams of popen, and those that are there",
    "pthread_attr_* pthread_*attr_get* pthread_mutexattr_*": "objects that the program filled in",
    "pthread_getattr_default_np": "how large a stack is, when nobody says",
    "posix_spawnattr_* posix_spawn_file_actions_*": "how a shell is started: system and popen",
    "sched_get_priority_* __sched_cpucount __sysconf": "constants of the machine",
    "__rseq_offset __rseq_size": "where the kernel writes on which processor we run",
    "inet_pton": "of a text that was given",
    "_ZSt15get_new_handlerv _ZSt17__throw_bad_allocv": "operator new, where libstdc++ is",
    "_GLOBAL_OFFSET_TABLE_ __start_* __stop_* __executable_start etext": "the linker's",
}


def needed() -> set[str]:
    listed = subprocess.run(
        ["nm", "--undefined-only", "--format=posix", parts().runtime],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {line.split()[0] for line in listed.splitlines()}


def test_the_runtime_uses_nothing_of_libc_without_a_reason() -> None:
    patterns = [pattern for names in USED for pattern in names.split()]
    found = needed()
    assert "dlsym" in found
    unknown = {name for name in found if not any(fnmatch.fnmatchcase(name, p) for p in patterns)}
    assert not unknown, "do without them, or write them down with the reason"
    unused = [p for p in patterns if not any(fnmatch.fnmatchcase(name, p) for name in found)]
    assert not unused
