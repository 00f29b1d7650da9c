# SPDX-License-Identifier: Apache-2.0
"""Hooks that stand in place of calls: where they do, that they mean the same, and what is left."""

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cc.harness import Shop

from eitherway.installed import native
from eitherway.worlds.threads.cc.arguments import parse
from eitherway.worlds.threads.cc.compiler import C, find
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

SOURCES = Path(__file__).parents[2] / "native" / "assembler"
HOT = "__eitherway_hot_1"
LOOP = """long sum(const long *a, int n) {
    long s = 0;
    while (n--) s += a[n];
    return s;
}
"""
STRAIGHT = "long x, y;\nvoid move(void) { x = y; }\n"
CALLS = "void f(void);\nvoid each(int *a, int n) { while (n--) { a[n]++; f(); } }\n"

# Threads that touch memory of every size in loops, with and without a lock.
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char c[64]; short s[64]; int i[64]; long l[64]; } shared, locked;
static void add(volatile char *c, volatile short *s, volatile int *i, volatile long *l, int n) {
    for (int k = 0; k < n; k++) { c[k] += k; s[k] += c[k]; i[k] += s[k]; l[k] += i[k]; }
}
static long total(const long *l, const char *c, int n) {
    long sum = 0;
    for (int k = 0; k < n; k++) sum += l[k] * c[k];
    return sum;
}
static void *work(void *unused) {
    for (int round = 0; round < 3; round++) {
        add(shared.c, shared.s, shared.i, shared.l, 64);
        pthread_mutex_lock(&lock);
        add(locked.c, locked.s, locked.i, locked.l, 64);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    printf("%ld %ld\n", total(shared.l, shared.c, 64), total(locked.l, locked.c, 64));
    return 0;
}
"""


def hooks_called(shop: Shop, name: str) -> list[str]:
    code = shop.run("objdump", "-dr", name).ok().output
    return sorted(re.findall(r"R_X86_64_PL?T?\w*32\s+__tsan_(\w+)", code))


@pytest.mark.parametrize(
    "options",
    [
        *((), ("-fPIC",), ("-fno-pic",), ("-pipe",), ("-g",), ("-Wa,-alh=list",)),
        *(("-fverbose-asm",), ("-mcmodel=medium",), ("-fcf-protection",)),
    ],
)
def test_a_small_loop_looks_before_it_calls(gcc: Shop, options: tuple[str, ...]) -> None:
    gcc.write("a.c", LOOP)
    gcc.cc("-O2", *options, "-c", "a.c").ok()
    assert HOT in gcc.symbols("a.o", "-u")
    code = gcc.run("objdump", "-d", "a.o").ok().output
    assert re.search(r"cmp +%edx,.*\n(.*\n){1,6}.*call", code), code


@pytest.mark.parametrize("options", [(), ("-fPIC",), ("-pipe",), ("-g", "-gz"), ("-gsplit-dwarf",)])
def test_a_small_loop_of_clang_does_too(clang: Shop, options: tuple[str, ...]) -> None:
    clang.write("a.c", LOOP)
    clang.cc("-O2", "-fno-unroll-loops", *options, "-Wa,--noexecstack", "-c", "a.c").ok()
    assert HOT in clang.symbols("a.o", "-u")
    code = clang.run("objdump", "-d", "a.o").ok().output
    assert re.search(r"cmp +%edx,.*\n(.*\n){1,6}.*call", code), code
    clang.cc("-O2", *options, "-fintegrated-as", "-c", "a.c").ok()
    assert HOT not in clang.symbols("a.o", "-u")


def test_a_mistake_that_clang_does_not_see_is_told(clang: Shop) -> None:
    clang.write("a.c", LOOP + 'void g(void) { __asm__("nosuch %rax"); }\n')
    assert "nosuch %rax" in clang.cc("-c", "a.c").errors
    assert not (clang.path / "a.o").exists()


@pytest.mark.parametrize("text", [STRAIGHT, CALLS])
def test_elsewhere_an_access_is_a_call(gcc: Shop, text: str) -> None:
    gcc.write("a.c", text)
    gcc.cc("-O2", "-c", "a.c").ok()
    code = gcc.run("objdump", "-d", "a.o").ok().output
    assert "cmp    %edx" not in code
    assert {"read8", "write8"} <= set(hooks_called(gcc, "a.o")) or "write4" in hooks_called(
        gcc, "a.o"
    )


def test_a_pipe_makes_no_difference(gcc: Shop) -> None:
    gcc.write("a.c", PROGRAM)
    gcc.cc("-O2", "-g", "-c", "a.c", "-o", "file.o").ok()
    gcc.cc("-O2", "-g", "-c", "a.c", "-o", "pipe.o", "-pipe").ok()
    assert (gcc.path / "file.o").read_bytes() == (gcc.path / "pipe.o").read_bytes()


def test_the_other_syntax_keeps_its_calls(gcc: Shop) -> None:
    gcc.write("a.c", LOOP)
    gcc.cc("-O2", "-masm=intel", "-c", "a.c").ok()
    assert HOT not in gcc.symbols("a.o", "-u")
    assert "read8" in hooks_called(gcc, "a.o")


@pytest.mark.parametrize(
    "options", [("-O1",), ("-O1", "-masm=intel"), ("-O1", "-pipe"), ("-O1", "-save-temps")]
)
@pytest.mark.parametrize(
    "text",
    [
        "int offset = 4;\nint f(void) { return offset; }\n",  # a word of the other syntax
        "int f(void) {\n    int a;\n"
        '    __asm__(".intel_syntax noprefix\\n\\tmov eax, 4" : "=a"(a));\n    return a;\n}\n',
        '__asm__(".intel_syntax noprefix\\nf: mov eax, 4\\nret\\n");\nint f(void);\n',
    ],
)
def test_clang_reads_each_piece_by_itself(clang: Shop, text: str, options: tuple[str, ...]) -> None:
    """A syntax that one piece of inline assembly sets is not that of what comes after it."""
    main = "int values[4];\nint main(void) { values[f() - 1] = 3; return values[3]; }\n"
    clang.write("a.c", text + main)
    clang.cc(*options, "a.c", "-o", "a").ok()
    assert clang.run("./a").status == 3


def test_what_was_written_by_hand_is_left_alone(gcc: Shop) -> None:
    gcc.write("a.s", ".macro call to\ncallq \\to\n.endm\n.globl f\nf: call __tsan_read8\nret\n")
    gcc.cc("-c", "a.s", "-o", "ours.o").ok()
    gcc.plain("-c", "a.s", "-o", "plain.o").ok()
    assert (gcc.path / "ours.o").read_bytes() == (gcc.path / "plain.o").read_bytes()


@pytest.mark.parametrize("options", [(), ("-pipe",), ("-save-temps",)])
def test_a_mistake_is_told_as_ever(gcc: Shop, options: tuple[str, ...]) -> None:
    gcc.write("a.c", LOOP + 'void g(void) {\n    __asm__("nosuch %rax");\n}\n')
    told_as_ever(gcc, "-O2", *options, "-c", "a.c")


@pytest.mark.parametrize("options", [("-pipe",), ("-save-temps",)])
def test_a_mistake_beside_functions_is_told_as_ever(gcc: Shop, options: tuple[str, ...]) -> None:
    gcc.write("a.c", '__asm__("nosuch %rax");\n' + LOOP)
    told_as_ever(gcc, "-O2", *options, "-c", "a.c")


@pytest.mark.parametrize("name", ["a b.s", 'a"b.s', "a\\b.s", "a\nb.s", "\u00e4'$b.s"])
def test_a_mistake_in_a_file_with_an_odd_name(gcc: Shop, name: str) -> None:
    gcc.write(name, "\tcall\t__tsan_func_entry@PLT\n\tnosuch\n")
    told_as_ever(gcc, "-c", name)


def told_as_ever(gcc: Shop, *words: str) -> None:
    ours = gcc.cc(*words)
    theirs = gcc.plain(*words)
    assert ours.status == theirs.status == 1
    # gcc puts two lines in front when it instruments
    assert re.sub(r"\.s:\d+", ".s", ours.errors) == re.sub(r"\.s:\d+", ".s", theirs.errors)


def test_code_for_a_library(gcc: Shop) -> None:
    gcc.write("a.c", LOOP)
    gcc.write(
        "main.c",
        "long sum(const long *, int);\nint main(void) { long a[9] = {7}; return sum(a, 9); }\n",
    )
    gcc.cc("-O2", "-fPIC", "-shared", "a.c", "-o", "liba.so").ok()
    gcc.cc("-O2", "main.c", "-o", "main", "-L.", "-la", "-Wl,-rpath,$ORIGIN").ok()
    assert HOT in gcc.symbols("liba.so", "-u", "-D")
    assert gcc.run("./main").status == 7


def test_schedules_and_findings_are_the_same_with_calls(shop: Shop) -> None:
    """A step is a step: what was recorded of one build means the same in the other."""
    shop.write("a.c", PROGRAM)
    flags = list(find(C, shop.variables).compile_flags(parse([]), []))
    at = flags.index("-B")
    called = [*flags[:at], *flags[at + 2 :], "-O2", "-c", "a.c", "-o", "called.o"]
    shop.plain(*called, *(["-fintegrated-as"] if shop.family == "clang" else [])).ok()
    shop.cc("-O2", "-c", "a.c", "-o", "inline.o").ok()
    assert len(hooks_called(shop, "called.o")) > 8
    assert HOT not in shop.symbols("called.o", "-u")
    assert HOT in shop.symbols("inline.o", "-u")
    for name in ("called", "inline"):
        shop.cc(f"{name}.o", "-o", name).ok()
    for seed in range(12):
        both = [
            run(Launch.here([str(shop.path / name)]), seed=seed, detect=seed % 3 > 0)
            for name in ("called", "inline")
        ]
        steps, out, found = zip(
            *((each.schedule.steps, each.out, len(each.found.rows)) for each in both), strict=True
        )
        assert steps[0] == steps[1] > 3 * 3 * 2 * 64 * 7
        assert out[0] == out[1]
        assert found[0] == found[1]
        assert (found[0] > 0) == (seed % 3 > 0)


BESIDE_A_WRITE = r"""
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    ((volatile char *)memory)[4] = 2;
    return pthread_join(thread, 0);
}
"""

# In every order, one reads or writes a byte that the other writes; the byte before is its own.
ACROSS_CELLS = r"""
#include <pthread.h>
static _Alignas(8) char memory[8];
static void *work(void *unused) {
    for (int i = 0; i < 4; i++) ((volatile char *)memory)[i] = 1;
    *(volatile int *)memory = 1;
    for (int i = 3; i < 4; i++) *(volatile short *)(memory + i) ACCESS;
    return unused;
}
"""


@pytest.mark.parametrize("access", ["", "= 1"])
def test_two_bytes_that_lie_in_two_cells(gcc: Shop, access: str) -> None:
    gcc.write("a.c", ACROSS_CELLS + BESIDE_A_WRITE)
    gcc.cc("-O0", f"-DACCESS={access}", "a.c", "-o", "a").ok()
    for seed in range(4):
        assert len(run(Launch.here([str(gcc.path / "a")]), seed=seed, detect=True).found.rows) == 1


# The thread has read all of the first cell when it touches half of it and half of the next one.
HALF_OF_TWO = r"""
#include <pthread.h>
static _Alignas(8) char memory[16];
static volatile int sum;
static void *work(void *unused) {
    sum = *(volatile int *)memory;
    for (int i = 2; i < 3; i++) *(volatile TYPE *)(memory + i) ACCESS;
    return unused;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("kind", ["int", "long"])
@pytest.mark.parametrize("access", ["", "= 1"])
def test_what_begins_in_the_middle_of_a_cell(gcc: Shop, access: str, kind: str, level: str) -> None:
    """It finds one side of a cell where it expects the other: that must not look like its own."""
    gcc.write("a.c", HALF_OF_TWO + BESIDE_A_WRITE)
    gcc.cc(level, f"-DTYPE={kind}", f"-DACCESS={access}", "a.c", "-o", "a").ok()
    for seed in range(4):
        assert len(run(Launch.here([str(gcc.path / "a")]), seed=seed, detect=True).found.rows) == 1


def own_assembler(shop: Shop) -> Path:
    """One in a folder of its own, that leaves a trace."""
    real = shutil.which("as")
    program = shop.path / "prefix" / "as"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$0" >> {shop.path}/taken\nexec {real} "$@"\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("words", [("-B", "prefix/"), ("-Bprefix/",)])
def test_the_assembler_that_the_user_names(gcc: Shop, words: tuple[str, ...]) -> None:
    own_assembler(gcc)
    gcc.write("a.c", LOOP)
    gcc.cc("-O1", *words, "-c", "a.c").ok()
    assert (gcc.path / "taken").read_text().split() == ["prefix/as"]
    gcc.cc("-O1", *words, "a.c", "-shared", "-fPIC", "-o", "a.so").ok()
    assert len((gcc.path / "taken").read_text().split()) == 2
    gcc.cc("-O1", "-c", "a.c").ok()  # the next call is without it
    assert len((gcc.path / "taken").read_text().split()) == 2


def test_the_assembler_of_a_gcc_in_a_place_of_its_own(gcc: Shop) -> None:
    program = own_assembler(gcc)
    compiler = gcc.path / "bin" / "our-gcc"
    compiler.parent.mkdir()
    compiler.write_text(f'#!/bin/sh\nexec gcc -B {program.parent} "$@"\n')
    compiler.chmod(0o755)
    gcc.write("a.c", LOOP)
    gcc.cc("-O1", "-c", "a.c", EITHERWAY_CC=str(compiler)).ok()
    assert (gcc.path / "taken").read_text().split() == [str(program)]


@pytest.mark.parametrize("words", ["clang", "clang -m64", "env clang", "env clang -m64"])
def test_clang_is_found_among_other_words(clang: Shop, words: str) -> None:
    own_assembler(clang)
    clang.write("a.c", LOOP)
    path = f"{clang.path}/prefix:{clang.variables['PATH']}"
    clang.cc("-O1", "-c", "a.c", EITHERWAY_CC=words, PATH=path).ok()
    assert not (clang.path / "taken").exists()
    assert HOT in clang.symbols("a.o", "-u")


# --- the program by itself


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ours, built with sanitizers, and in place of the real one a program that shows its input."""
    folder = tmp_path_factory.mktemp("assembler")
    sanitize = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-D_GNU_SOURCE"]
    (folder / "ours").mkdir()
    program = folder / "ours" / "as"
    subprocess.run(["gcc", *sanitize, *SOURCES.glob("*.c"), "-o", program], check=True)
    shutil.copy(SOURCES / "hooks.s", program.parent)
    real = folder / "real" / "as"
    real.parent.mkdir()
    real.write_text('#!/bin/sh\nfor last; do :; done\nexec cat "$last"\n')
    real.chmod(0o755)
    return program


def passed_on(checked: Path, text: bytes, *words: str) -> bytes:
    variables = {"COMPILER_PATH": f"{checked.parent}:{checked.parents[1] / 'real'}"}
    environment = {**os.environ, **variables, "ASAN_OPTIONS": "detect_leaks=0"}
    command = [str(checked), *words]
    return subprocess.run(
        command, input=text, capture_output=True, env=environment, check=True
    ).stdout


LINES = [
    *("\tcall\t__tsan_read4@PLT", "\tcall\t__tsan_write8", "\tcall\t__tsan_func_exit@PLT"),
    *("\tcallq\t__tsan_read2@PLT", "\tcallq\t__tsan_write1  # words", "\tcallq", "\tcallx\tf"),
    *("\tcall\t__tsan_read16@PLT", "\tcall\t__tsan_read4@PLTx", "\tcall\tf@PLT", "\tcall\t*%rax"),
    *(
        "\tjne\t.L%d",
        "\tjmp\t.L%d",
        "\tjmp\t*%%rax",
        "\tnotrack jmp\t*%%rax",
        "\tret",
        "\tj",
        "\tj\t",
    ),
    *(
        ".L%d:",
        ".L%d:    # %%bb.1",
        "\tretq",
        "\tjmp\t.L%d    # words",
        "f%d:",
        "\tmovl\t$1, %%eax",
        "",
        "\t",
        "# words",
        "\t.loc 1 %d 3",
        ".L:",
        ":",
        "\0\xff",
    ),
]


@pytest.mark.parametrize("seed", range(40))
def test_nothing_but_calls_of_hooks_is_replaced(checked: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines = [
        line % chance.randrange(8) if "%d" in line else line.replace("%%", "%")
        for line in chance.choices(LINES, k=chance.randrange(60))
    ]
    text = "\n".join(lines).encode("latin-1") + chance.choice([b"", b"\n"])
    given = passed_on(checked, text).rstrip(b"\n").split(b"\n")
    wanted = text.rstrip(b"\n").split(b"\n")
    assert len(given) == len(wanted)
    for one, other in zip(given, wanted, strict=True):
        hook = re.match(rb"\teitherway_(?:access )?(\w+)", one)
        assert one == other or (hook and re.match(rb"\tcallq?\t__tsan_", other)), (one, other)
        assert not hook or hook[1] in other


def test_clang_is_its_own_assembler(checked: Path, tmp_path: Path) -> None:
    """What the machine's `as` would be told, it is told in its own words, and has one file."""
    clang = tmp_path / "clang"
    clang.write_text('#!/bin/sh\necho "$@"\nexec cat\n')
    clang.chmod(0o755)
    (tmp_path / "a.s").write_text("\tcallq\t__tsan_func_exit@PLT\n")
    command = [
        str(checked),
        "--64",
        "-I",
        "--x",
        "-gdwarf-5",
        "--fatal-warnings",
        "--debug-prefix-map",
        "a=b",
        "-o",
        "--64x",
        "a.s",
    ]
    environment = {**os.environ, "EITHERWAY_CLANG": str(clang), "ASAN_OPTIONS": "detect_leaks=0"}
    given = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    told = "-c -Qunused-arguments -x assembler -I --x -gdwarf-5 -Wa,--fatal-warnings -o --64x -"
    macros = checked.with_name("hooks.s")
    assert given == [told, f'.include "{macros}"', '# 1 "a.s"', "\teitherway_exit"]


@pytest.mark.parametrize(
    "option", ["-ffile-prefix-map=/a=/b", "-fdebug-prefix-map=/a=/b", "-mrelax-all"]
)
def test_what_clang_knows_without_ours_it_knows_with_it(clang: Shop, option: str) -> None:
    clang.write("a.c", PROGRAM)
    clang.cc("-O1", "-g", "-Werror", option, "-c", "a.c").ok()
    clang.cc("-O1", "-g", "-Werror", option, "a.c", "-o", "a").ok()


def test_a_trace_of_the_time_lies_beside_the_object(clang: Shop) -> None:
    clang.write("a.c", LOOP)
    clang.cc("-O1", "-ftime-trace", "-c", "a.c").ok()
    assert (clang.path / "a.json").exists()


def test_a_text_in_the_other_syntax_stays_in_it(checked: Path, tmp_path: Path) -> None:
    clang = tmp_path / "clang"
    clang.write_text("#!/bin/sh\nexec cat\n")
    clang.chmod(0o755)
    piece = "\t#APP\n.intel_syntax noprefix\n\t#NO_APP\n"
    environment = {**os.environ, "EITHERWAY_CLANG": str(clang), "ASAN_OPTIONS": "detect_leaks=0"}
    for begin, end in (("", "\t.att_syntax\n"), ("\t.intel_syntax noprefix\n", "")):
        given = subprocess.run(
            [checked, "--64"],
            input=f"{begin}{piece}",
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert given.stdout == f"{begin}{piece}{end}"


def test_for_another_machine_clang_is_none(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text("text\n")
    environment = {"EITHERWAY_CLANG": "/bin/false", "ASAN_OPTIONS": "detect_leaks=0"}
    given = subprocess.run(
        [checked, "--32", "a.s"],
        cwd=tmp_path,
        env={**os.environ, **environment, "COMPILER_PATH": str(checked.parents[1] / "real")},
        capture_output=True,
        check=True,
    )
    assert given.stdout == b"text\n"


def test_a_loop_deep_inside_others_is_found(checked: Path) -> None:
    depth = 40
    heads = "".join(f".L{n}:\n\tcall\tf\n" for n in range(depth))
    tails = "".join(f"\tjne\t.L{n}\n" for n in reversed(range(depth)))
    inner = ".Lin:\n\tcall\t__tsan_read4@PLT\n\tjne\t.Lin\n"
    text = f"{heads}\tcall\t__tsan_write4@PLT\n{inner}{tails}\tret\n".encode()
    given = passed_on(checked, text)
    assert given.count(b"eitherway_access") == 1
    assert b"\tcall\t__tsan_write4@PLT" in given


def test_a_large_loop_keeps_its_calls(checked: Path) -> None:
    for hooks, replaced in ((8, 8), (9, 0)):
        body = "\tcall\t__tsan_read8@PLT\n" * hooks
        given = passed_on(checked, f".L1:\n{body}\tjne\t.L1\n\tret\n".encode())
        assert given.count(b"eitherway_access") == replaced


def test_a_text_of_many_blocks(checked: Path) -> None:
    """Its cost grows with its size, and nothing is kept on the stack."""
    lines = (f".L{n}:\n\tjne\t.L{n + 1}\n" for n in range(100_000))
    text = "\tcall\t__tsan_read8@PLT\n" + "".join(lines) + ".L100000:\n\tjmp\t.L0\n"
    assert passed_on(checked, text.encode()).count(b"eitherway_access") == 0


@pytest.mark.parametrize(
    "words",
    [
        *(("a.s", "b.s"), ("a.o",), ("nosuch.s",), ("-o", "x", "folder.s"), ("--version",)),
        ("--", "-o", "x", "there.s"),
    ],
)
def test_what_is_no_call_of_gcc_goes_on_as_it_is(
    checked: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    echo = tmp_path / "as"
    echo.write_text('#!/bin/sh\necho "$@"\n')
    echo.chmod(0o755)
    (tmp_path / "folder.s").mkdir()
    (tmp_path / "there.s").write_text("\tcall\t__tsan_func_exit\n")
    environment = {"COMPILER_PATH": "", "PATH": f"{checked.parent}:{tmp_path}:{os.environ['PATH']}"}
    given = subprocess.run(
        [checked, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    wanted = " ".join(words)
    assert given.stdout.strip() in (wanted, f"{wanted} -")


def test_without_an_assembler(checked: Path) -> None:
    ended = subprocess.run(
        [checked, "-o", "x"],
        env={"PATH": "/nosuch", "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert ended.returncode == 127
    assert b"no assembler" in ended.stderr


def test_another_installation_is_no_assembler(checked: Path, tmp_path: Path) -> None:
    shutil.copytree(checked.parent, tmp_path / "other")
    folders = [checked.parent, tmp_path / "other", checked.parents[1] / "real"]
    ended = subprocess.run(
        [checked],
        input=b"text\n",
        env={**os.environ, "COMPILER_PATH": ":".join(map(str, folders))},
        capture_output=True,
        check=True,
    )
    assert ended.stdout == b"text\n"


def test_an_empty_folder_is_the_one_we_are_in(checked: Path) -> None:
    ended = subprocess.run(
        [checked],
        input=b"text\n",
        env={"PATH": f"/nosuch::{os.environ['PATH']}", "ASAN_OPTIONS": "detect_leaks=0"},
        cwd=checked.parents[1] / "real",
        capture_output=True,
        check=True,
    )
    assert ended.stdout == b"text\n"


@pytest.mark.parametrize("words", [("a.s",), ()])
def test_without_room_for_the_text(checked: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    text = b"\tcall\t__tsan_func_exit@PLT\n"
    (tmp_path / "a.s").write_bytes(text)
    ended = subprocess.run(
        ["/bin/sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", checked, *words],
        input=text,
        env={**os.environ, "COMPILER_PATH": str(checked.parents[1] / "real")},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert ended.stdout == (text if words else b"")
    assert (b"what was compiled is lost: File too large" in ended.stderr) == (not words)


@pytest.mark.parametrize("words", [("a.s",), ()])
def test_without_memory_nothing_is_cut(
    checked: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """All of it or nothing; of what is in a file all in any case."""
    block = b".L%d:\n\tcall\t__tsan_read8@PLT\n\tjne\t.L%d\n"
    text = b"".join(block % (n, n) for n in range(50_000)) + b"last\n"
    (tmp_path / "a.s").write_bytes(text)
    program = native("assembler/as")
    lost = 0
    for megabytes in range(4, 24):
        ended = subprocess.run(
            ["/bin/sh", "-c", f'ulimit -v {megabytes << 10}; exec "$@"', "sh", program, *words],
            input=text,
            env={**os.environ, "COMPILER_PATH": str(checked.parents[1] / "real")},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        lost += ended.returncode == 1
        assert ended.returncode == 1 or ended.stdout.endswith(b"\nlast\n")
    assert (lost > 0) == (not words)


def test_it_is_installed() -> None:
    assert os.access(native("assembler/as"), os.X_OK)
    assert native("assembler/hooks.s").parent == native("assembler/as").parent
