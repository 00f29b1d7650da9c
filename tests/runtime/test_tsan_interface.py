# SPDX-License-Identifier: Apache-2.0
"""What compilers and headers let a program ask of libtsan, our runtime has too.

Compared with the libtsan of each installed compiler, with what each compiler emits when all its
options are on, and with the names of compilers newer than those.
"""

import fnmatch
import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eitherway.worlds.threads.cc.link import parts

# What libtsan exports and our runtime does not, each with the reason.
ABSENT = {
    "__tsan_java_*": "called by a Java machine only",
    "__tsan_go_*": "called by Go's runtime only, which has a libtsan of its own",
    "__tsan_symbolize_external*": "brought by Go's runtime, called by libtsan",
    "__tsan_testonly_*": "for libtsan's own tests",
    "__tsan_test_only_on_fork": "for libtsan's own tests",
    "__tsan_on_thread_idle": "gives caches of libtsan's own back",
    "__tsan_resume*": "called by a debugger, on which libtsan's stop_on_start waits",
    "__tsan_setjmp": "called by libtsan's own assembler",
    "__tsan_*_initialization": "libtsan's own, with a name that stacks show",
    "__tsan_thread_start_func": "libtsan's own, with a name that stacks show",
    "__tsan_locate_address": "asked by debuggers about libtsan's own heap",
    "__tsan_get_alloc_stack": "asked by debuggers about libtsan's own heap",
    "__sanitizer_syscall_*": "announce raw system calls, which bypass every runtime",
    "__sanitizer_cov_*": "a fuzzer or coverage tool brings them",
    "__sanitizer_dump_*coverage": "belongs to coverage",
    "__sanitizer_weak_hook_*": "brought by a fuzzer, called by libtsan's string functions",
    "__sanitizer_malloc_hook": "brought by the program, called by libtsan's allocator",
    "__sanitizer_free_hook": "brought by the program, called by libtsan's allocator",
    "__sanitizer_on_print": "brought by the program, called when libtsan prints",
    "__sanitizer_internal_*": "libtsan's own copies of string functions",
    "__sanitizer_thread_*": "between libtsan and another sanitizer",
    "__sanitizer_purge_allocator": "of an allocator that is not here",
    "__sanitizer_print_memory_profile": "of an allocator that is not here",
}
PREFIXES = re.compile(r"(__tsan_|Annotate|WTFAnnotate|__sanitizer_|RunningOn|ValgrindSlow)")

PROBE = """
#include <string.h>
struct big { char bytes[100]; };
struct odd { char c; short s; int i; long l; __int128 x; } __attribute__((packed));
struct base { virtual ~base(); virtual void f(); };
struct derived : base { ~derived(); };
derived::~derived() {}
char c; short s; int i; long l; __int128 x;
volatile char vc; volatile short vs; volatile int vi; volatile long vl; volatile __int128 vx;
void plain(struct odd *p) {
    c++, s++, i++, l++, x++, vc = vc + 1, vs = vs + 1, vi = vi + 1, vl = vl + 1, vx = vx + 1;
    p->s++, p->i++, p->l++, p->x++;
}
void blocks(struct big *a, struct big *b, size_t n) {
    *a = *b, memcpy(a, b, n), memmove(a, b, n), memset(a, 0, n);
}
void virtuals(struct base *b) { b->f(); delete b; }
template <typename T> void atomics(T *p, T *e) {
    __atomic_store_n(p, __atomic_load_n(p, 5) + 1, 5), __atomic_exchange_n(p, 1, 5);
    __atomic_fetch_add(p, 1, 5), __atomic_fetch_sub(p, 1, 5), __atomic_fetch_and(p, 1, 5);
    __atomic_fetch_or(p, 1, 5), __atomic_fetch_xor(p, 1, 5), __atomic_fetch_nand(p, 1, 5);
    __atomic_compare_exchange_n(p, e, 1, 0, 5, 5), __atomic_compare_exchange_n(p, e, 1, 1, 5, 5);
    __atomic_thread_fence(5), __atomic_signal_fence(5);
}
template void atomics(unsigned char *, unsigned char *);
template void atomics(unsigned short *, unsigned short *);
template void atomics(unsigned *, unsigned *);
template void atomics(unsigned long *, unsigned long *);
template void atomics(unsigned __int128 *, unsigned __int128 *);
"""
OPTIONS = {
    "g++": ["--param", "tsan-distinguish-volatile=1", "-Wno-tsan"],
    "clang++": [
        "-mllvm",
        "-tsan-distinguish-volatile",
        "-mllvm",
        "-tsan-compound-read-before-write",
    ],
}


def exports() -> set[str]:
    """What a program linked by `eitherway cc` finds in our runtime."""
    return set(re.findall(r"^(\w+);", Path(parts().exported).read_text(), re.MULTILINE))


def undefined(path: Path) -> set[str]:
    listed = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def libtsans() -> list[Path]:
    """The libraries behind `-fsanitize=thread` of the installed compilers."""
    asked = [
        ("gcc", "libtsan.so"),
        ("clang", "libclang_rt.tsan.a"),
        ("clang", "libclang_rt.tsan-x86_64.a"),
    ]
    found = []
    for compiler, name in asked:
        if shutil.which(compiler):
            command = [compiler, f"-print-file-name={name}"]
            path = Path(
                subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            )
            found += [path] if path.is_absolute() and path.exists() else []
    return found


def offered(library: Path) -> set[str]:
    """The entry points that a program may reference."""
    how = ["-D"] if library.suffix == ".so" else []
    command = ["nm", *how, "--defined-only", "--extern-only", str(library)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {
        words[2].split("@")[0] for line in listed.splitlines() if len(words := line.split()) == 3
    }
    return {name for name in names if PREFIXES.match(name)}


def is_absent(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in ABSENT)


def test_all_that_libtsan_offers_is_there() -> None:
    libraries = libtsans()
    assert libraries, "make setup installs gcc, which brings libtsan"
    wanted = set().union(*(offered(library) for library in libraries))
    assert len(wanted) > 500  # or the names were not found
    missing = {name for name in wanted - exports() if not is_absent(name)}
    assert not missing


def test_nothing_is_called_absent_that_is_there() -> None:
    assert {name for name in exports() if is_absent(name)} == set()


@pytest.mark.parametrize("compiler", [name for name in OPTIONS if shutil.which(name)])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_all_that_the_compiler_emits_is_there(compiler: str, level: str, tmp_path: Path) -> None:
    source = tmp_path / "probe.cc"
    source.write_text(PROBE)
    result = tmp_path / "probe.o"
    flags = ["-fsanitize=thread", "-mcx16", level, *OPTIONS[compiler]]
    subprocess.run([compiler, *flags, "-c", source, "-o", result], check=True)
    asked = {name for name in undefined(result) if name.startswith("__tsan_")}
    assert {"__tsan_atomic128_fetch_add", "__tsan_volatile_read8"} <= asked
    assert asked <= exports()


SIZES = (1, 2, 4, 8, 16)
BITS = (8, 16, 32, 64, 128)
OPERATIONS = (
    *("load", "store", "exchange", "compare_exchange_strong", "compare_exchange_weak"),
    *("compare_exchange_val", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"),
    "fetch_nand",
)
NEWER = {
    *(
        f"__tsan_{how}{what}{size}"
        for how, what, size in itertools.product(
            ("", "unaligned_"),
            ("read", "write", "read_write", "volatile_read", "volatile_write"),
            SIZES,
        )
    ),
    *(
        f"__tsan_atomic{bits}_{operation}"
        for bits, operation in itertools.product(BITS, OPERATIONS)
    ),
    *("__tsan_memcpy", "__tsan_memmove", "__tsan_memset", "__tsan_vptr_read", "__tsan_vptr_update"),
    *("__tsan_check_no_mutexes_held", "__tsan_on_initialize", "__tsan_on_finalize"),
    *("__tsan_get_current_report", "__tsan_get_report_data", "__tsan_ignore_thread_begin"),
}


def test_what_newer_compilers_and_headers_know_is_there() -> None:
    assert exports() >= NEWER
