# SPDX-License-Identifier: Apache-2.0
"""Programs and libraries linked by `eitherway cc` and `eitherway c++`."""

import signal
import subprocess

import pytest
from tests.cc.harness import HELLO, THREAD, Shop

from eitherway import __version__
from eitherway.worlds.threads.program import Kind, classify

ADD = "int total;\nint add(int a) { return total += a; }\n"
USES_ADD = '#include <stdio.h>\nint add(int);\nint main(void) { printf("%d\\n", add(3)); }\n'


@pytest.mark.parametrize("how", ["at once", "objects"])
def test_a_program_runs_under_control(shop: Shop, how: str) -> None:
    shop.write("a.c", THREAD)
    if how == "at once":
        shop.cc("-O1", "a.c", "-o", "a").ok()
    else:
        shop.cc("-O1", "-c", "a.c").ok()
        shop.cc("a.o", "-o", "a").ok()
    assert shop.run("./a").ok().output == "controlled\n"
    assert classify(shop.path / "a").kind is Kind.OURS
    found = shop.note("a")
    assert (found.runtime, found.measured, found.share) == (__version__, True, 1.0)
    assert found.compiler.startswith(f"{shop.family} 1")
    assert "libtsan" not in " ".join(found.libraries)


def test_a_program_in_cxx(shop: Shop) -> None:
    shop.write(
        "a.cpp",
        "#include <iostream>\n#include <string>\n#include <thread>\nint main() {\n"
        "  std::string s;\n"
        '  std::thread t([&] { s = "threads"; });\n  t.join();\n'
        "  try { throw s; } catch (std::string &e) { std::cout << e << std::endl; }\n}\n",
    )
    shop.cxx("-std=c++17", "-O1", "a.cpp", "-o", "a").ok()
    assert shop.run("./a").ok().output == "threads\n"
    assert shop.note("a").share == 1.0


def test_sources_objects_and_languages_mixed(shop: Shop) -> None:
    shop.write("add.c", ADD)
    shop.write("main.txt", USES_ADD)
    shop.write("twice.s", ".globl twice\ntwice: ret\n")
    shop.cc("-c", "add.c").ok()
    shop.cc("-x", "c", "main.txt", "-x", "none", "add.o", "twice.s", "-lm", "-o", "a").ok()
    assert shop.run("./a").ok().output == "3\n"
    found = shop.note("a")
    assert (found.files, found.files_instrumented) == (3, 2)
    assert found.unseen == ("twice.s",)


def test_a_program_from_standard_input_without_a_name(shop: Shop) -> None:
    shop.cc("-xc", "-", stdin=HELLO).ok()
    assert shop.run("./a.out").ok().output == "hello\n"


def test_all_sources_are_tried_after_one_has_failed(shop: Shop) -> None:
    shop.write("a.c", "int f( {\n")
    shop.write("b.c", "int g( {\n")
    said = shop.cc("a.c", "b.c", "-o", "a")
    assert said.status == 1
    assert "a.c:1" in said.errors
    assert "b.c:1" in said.errors
    assert not (shop.path / "a").exists()


def test_what_the_linker_misses_is_the_linkers_message(shop: Shop) -> None:
    shop.write("a.c", USES_ADD)
    said = shop.cc("a.c", "-o", "a")
    assert said.status == 1
    assert "undefined reference to `add'" in said.errors
    assert "eitherway" not in said.errors.replace("eitherway-", "")


def test_the_linkers_output_is_the_users_only_when_asked_for(gcc: Shop) -> None:
    gcc.write("a.c", HELLO)
    assert gcc.cc("a.c").ok().output == ""
    assert "crti.o" in gcc.cc("a.c", "-Wl,--trace").ok().output
    assert "GNU ld" in gcc.cc("a.c", "-Wl,-v").ok().output


def test_dependencies_of_a_program_made_at_once(shop: Shop) -> None:
    """As the compiler itself does it."""
    shop.write("one.h", "")
    shop.write("b.c", "int b;\n")
    shop.write("a.c", f'#include "one.h"\n{HELLO}')
    for words in (
        ["-o", "b"],
        [],
        ["b.c"],
        ["-MF", "x.d", "-o", "a"],
        ["-MT", "x", "-o", "folder/a.exe"],
    ):
        texts = []
        for tool in (shop.cc, shop.plain):
            folder = shop.path / "folder"
            folder.mkdir(exist_ok=True)
            tool("-MMD", "a.c", *words).ok()
            files = sorted(shop.path.rglob("*.d"))
            texts.append([(file, file.read_text()) for file in files])
            for file in files:
                file.unlink()
        assert texts[0] == texts[1]
        assert texts[0]


def test_a_static_library(shop: Shop) -> None:
    shop.write("add.c", ADD)
    shop.write("other.c", "int other(int *a) { return *a; }\n")
    shop.write("main.c", USES_ADD)
    shop.cc("-c", "add.c", "other.c").ok()
    shop.run("ar", "rcs", "libadd.a", "add.o", "other.o").ok()
    shop.cc("main.c", "-L.", "-ladd", "-o", "a").ok()
    assert shop.run("./a").ok().output == "3\n"
    assert shop.note("a").files == 2  # the other member is not needed


@pytest.mark.parametrize("policy", ["", "-Wl,-z,defs", "-Wl,-z -Wl,defs", "-Wl,--no-undefined"])
def test_a_shared_library_leaves_the_runtime_to_the_program(shop: Shop, policy: str) -> None:
    shop.write("add.c", ADD)
    shop.write("main.c", USES_ADD)
    shop.cc("-fPIC", "-shared", *policy.split(), "add.c", "-o", "libadd.so").ok()
    assert "pthread_create" not in shop.symbols("libadd.so", "-D")
    assert "__tsan_init" in shop.symbols("libadd.so", "-D", "-u")
    found = shop.note("libadd.so")
    assert (found.is_library, found.share) == (True, 1.0)
    assert classify(shop.path / "libadd.so").kind is Kind.LIBRARY
    shop.cc("main.c", "-L.", "-ladd", "-Wl,-rpath,$ORIGIN", "-o", "a").ok()
    assert shop.run("./a").ok().output == "3\n"
    assert "libadd.so" in shop.note("a").libraries


def test_objects_put_together(shop: Shop) -> None:
    shop.write("add.c", ADD)
    shop.write("main.c", USES_ADD)
    shop.cc("-c", "add.c", "main.c").ok()
    shop.cc("-r", "-nostdlib", "add.o", "main.o", "-o", "both.o").ok()
    assert "pthread_create" not in shop.symbols("both.o")
    shop.cc("both.o", "-o", "a").ok()
    assert shop.run("./a").ok().output == "3\n"


@pytest.mark.parametrize(("option", "anywhere"), [("-pie", True), ("-no-pie", False)])
def test_where_it_loads_is_the_users_choice(shop: Shop, option: str, anywhere: bool) -> None:
    shop.write("a.c", THREAD)
    shop.cc("-fPIE" if anywhere else "-fno-pie", option, "a.c", "-o", "a").ok()
    assert shop.run("./a").ok().output == "controlled\n"
    assert shop.note("a").loads_anywhere is anywhere


@pytest.mark.parametrize(
    "options",
    [
        "-s",
        "-Wl,--gc-sections -ffunction-sections",
        "-Wl,--exclude-libs,ALL",
        "-Wl,--version-script=hide",
        "-Wl,--version-script -Wl,hide",
        "-Wl,--as-needed",
        "-Wl,-z,now,-z,relro",
        "-Wl,--fatal-warnings",
        "-Wl,-z,defs",
        "-Werror -Wall -Wextra",
        "-rdynamic",
        "-fsanitize=thread",
        "-fsanitize=thread,undefined",
    ],
)
def test_options_of_the_link_leave_the_runtime_in_place(gcc: Shop, options: str) -> None:
    gcc.write("hide", "{ global: main; local: *; };\n")
    gcc.write("a.c", THREAD)
    gcc.cc("a.c", *options.split(), "-o", "a").ok()
    assert gcc.run("./a").ok().output == "controlled\n"
    assert "pthread_create" in gcc.symbols("a", "-D", "--defined-only")
    assert gcc.note("a").measured
    assert not any("libtsan" in library for library in gcc.note("a").libraries)


def test_clang_takes_our_options_with_werror(shop: Shop) -> None:
    shop.write("a.c", HELLO)
    shop.cc("-Werror", "-Wall", "-c", "a.c").ok()
    shop.cc("-Werror", "-Wall", "a.o", "-o", "a").ok()
    shop.cc("-Werror", "-Wall", "-I.", "-DX", "-L.", "-Wl,-O1", "a.c", "-o", "a").ok()


def test_a_response_file(shop: Shop) -> None:
    shop.write("a b.c", THREAD)
    shop.write("words", '"a b.c"\n-o a\n')
    shop.cc("@words").ok()
    assert shop.run("./a").ok().output == "controlled\n"


def test_an_output_that_is_no_file(shop: Shop) -> None:
    shop.write("a.c", HELLO)
    shop.cc("a.c", "-o", "/dev/null").ok()


@pytest.mark.parametrize("option", ["-###", "-Wl,--version"])
def test_a_link_that_only_talks_leaves_an_older_program_alone(shop: Shop, option: str) -> None:
    shop.write("a.c", HELLO)
    shop.cc("a.c", "-o", "a").ok()
    before = (shop.path / "a").read_bytes()
    shop.cc("a.c", option, "-o", "a").ok()
    assert (shop.path / "a").read_bytes() == before


@pytest.mark.parametrize("option", ["-static", "--static", "-static-pie"])
def test_static_programs_are_refused(shop: Shop, option: str) -> None:
    shop.write("a.c", HELLO)
    shop.cc(option, "a.c", "-o", "a").refused(64, "static executable", "without -static")
    assert not (shop.path / "a").exists()
    shop.cc(option, "-c", "a.c").ok()  # says nothing yet


def test_a_program_without_the_c_library_is_refused(shop: Shop) -> None:
    shop.write("a.c", "void _start(void) {}\n")
    shop.cc("-nostdlib", "a.c", "-o", "a").refused(64, "C library", "-nostdlib")
    shop.write("b.c", HELLO)
    shop.cc("-nodefaultlibs", "b.c", "-lc", "-lgcc", "-lgcc_s", "-o", "b").ok()
    assert shop.run("./b").ok().output == "hello\n"


def test_lto_at_the_link_is_left_out(shop: Shop) -> None:
    shop.write("a.c", THREAD)
    assert "-flto is left out" in shop.cc("-flto", "a.c", "-o", "a").ok().errors
    assert shop.run("./a").ok().output == "controlled\n"
    assert shop.note("a").share == 1.0


@pytest.mark.parametrize("place", ["object", "library", "shared"])
def test_bytecode_that_was_never_compiled_is_noticed(shop: Shop, place: str) -> None:
    shop.write("add.c", ADD)
    shop.write("main.c", USES_ADD)
    shop.plain("-flto", "-fPIC", "-fsanitize=thread", "-c", "add.c").ok()
    words = ["main.c", "add.o", "-o", "a"]
    if place == "library":
        shop.run("ar", "rcS", "libadd.a", "add.o").ok()
        shop.run("ranlib", "libadd.a")
        words = ["main.c", "-Wl,--whole-archive", "libadd.a", "-Wl,--no-whole-archive", "-o", "a"]
    elif place == "shared":
        words = ["-shared", "add.o", "-o", "a"]
    shop.cc(*words).refused(65, "add.o", "link-time optimisation bytecode")
    assert not (shop.path / "a").exists()


def test_a_fat_lto_object_is_taken_as_what_it_is(gcc: Shop) -> None:
    gcc.write("add.c", ADD)
    gcc.write("main.c", USES_ADD)
    gcc.plain("-flto", "-ffat-lto-objects", "-fsanitize=thread", "-c", "add.c").ok()
    gcc.cc("main.c", "add.o", "-o", "a").ok()
    assert gcc.run("./a").ok().output == "3\n"
    assert gcc.note("a").share == 1.0


def test_a_program_may_bring_a_function_of_its_own_and_is_told(shop: Shop) -> None:
    shop.write(
        "a.c",
        "#include <stdio.h>\nint poll(int a) { return a + 1; }\n"
        'int main(void) { printf("%d\\n", poll(1)); return 0; }\n',
    )
    said = shop.cc("a.c", "-o", "a").ok()
    assert "a.c defines poll itself" in said.errors
    assert shop.run("./a").ok().output == "2\n"


def test_names_of_ours_are_free_for_the_program(gcc: Shop) -> None:
    gcc.write("a.c", f"int ew_point = 1, ew_wait;\n{HELLO}")
    assert gcc.cc("a.c", "-o", "a").ok().errors == ""
    assert gcc.run("./a").ok().output == "hello\n"


def test_a_script_that_throws_the_note_away(gcc: Shop) -> None:
    """Then no verb could take the program: said at once."""
    gcc.write("a.c", HELLO)
    script = gcc.run("ld", "--verbose").ok().output.split("=" * 50)[1]
    gcc.write("script", script.replace("/DISCARD/ : {", "/DISCARD/ : { *(.note.eitherway)"))
    assert ".note.eitherway" in gcc.cc("a.c", "-T", "script", "-o", "a").ok().errors


def test_a_link_that_is_ended_leaves_nothing(gcc: Shop) -> None:
    """The compiler here answers a question, else says that it runs and then waits for ever."""
    gcc.write("a.c", HELLO)
    slow = gcc.path / "slow-gcc"
    slow.write_text(
        '#!/bin/sh\n[ "$1" != -print-prog-name=as ] || exit 0\necho started\nexec sleep 1000\n'
    )
    slow.chmod(0o755)
    run = subprocess.Popen(
        ["eitherway", "cc", "a.c", "-o", "a"],
        cwd=gcc.path,
        env={**gcc.variables, "EITHERWAY_CC": str(slow)},
        stdout=subprocess.PIPE,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"started\n"
    run.send_signal(signal.SIGTERM)
    assert run.wait() == 128 + signal.SIGTERM
    assert run.stdout.read() == b""  # ends only when the compiler has ended too
    run.stdout.close()
    assert not list(gcc.temporary.iterdir())


def test_notes_of_coverage_lie_beside_the_program(shop: Shop) -> None:
    shop.write("sources/a.c", HELLO)
    shop.cc("-ftest-coverage", "sources/a.c", "-o", "hello").ok()
    assert (shop.path / "hello-a.gcno").exists()


FIRST = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
static char room[1 << 16];
volatile int handled;
static void handle(int number) { handled = number; }
static void begin(void) {
    for (int i = 0; i < 3; i++) // the message of one is freed by the next
        dlsym(RTLD_NEXT, "nosuch");
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, 0);
    signal(SIGUSR1, handle);
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = begin;
"""
AFTER_FIRST = r"""
#include <pthread.h>
#include <signal.h>
extern volatile int handled;
static void *body(void *set) { sigaltstack(0, set); return 0; }
int main(void) {
    stack_t mine, other;
    pthread_t thread;
    pthread_create(&thread, 0, body, &other);
    pthread_join(thread, 0);
    if (sigaltstack(0, &mine) || mine.ss_size != 1 << 16 || other.ss_flags != SS_DISABLE)
        return 1;
    raise(SIGUSR1);
    return handled == SIGUSR1 ? 0 : 2;
}
"""


def test_what_the_compiler_links_first_may_begin_before_us(gcc: Shop) -> None:
    """As clang's runtime for undefined behaviour does."""
    gcc.write("first.c", FIRST)
    gcc.plain("-c", "first.c").ok()
    compiler = gcc.path / "first-gcc"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *-Wl,*) exec gcc first.o "$@" ;; esac\nexec gcc "$@"\n'
    )
    compiler.chmod(0o755)
    gcc.write("a.c", AFTER_FIRST)
    gcc.cc("a.c", "-o", "a", EITHERWAY_CC="./first-gcc").ok()
    gcc.run("./a").ok()
