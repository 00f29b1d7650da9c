# SPDX-License-Identifier: Apache-2.0
"""Everything a compiler does before it links, done by `eitherway cc` and `eitherway c++`."""

import os
import sys

import pytest
from tests.cc.harness import HELLO, TOOL, Shop

ADD = "int total;\nint add(int a) { return total += a; }\n"


def test_an_object_is_instrumented(shop: Shop) -> None:
    shop.write("a.c", ADD)
    shop.cc("-c", "a.c").ok()
    assert shop.is_instrumented("a.o")
    hooks = shop.symbols("a.o", "-u")  # gcc's assembler has put some in place of their calls
    assert {"__tsan_func_entry", "__tsan_func_exit"} <= hooks or "__eitherway_hot_1" in hooks


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os", "-Og"])
def test_at_every_level_of_optimisation(shop: Shop, level: str) -> None:
    shop.write("a.c", "int add(int);\nint twice(int a) { return add(add(a)); }\n")
    shop.cc(level, "-c", "a.c").ok()
    assert shop.is_instrumented("a.o")
    code = shop.run("objdump", "-d", "--no-show-raw-insn", "a.o").ok().output
    assert "jmp    add" not in code  # a tail call would take the caller off the stack


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_a_field_of_a_local_variable_that_others_know_is_told(shop: Shop, level: str) -> None:
    shop.write(
        "a.c",
        "struct pair { int first, second; };\nvoid give(struct pair *);\n"
        "void use(void) { struct pair own = {0, 0}; give(&own); own.second++; give(&own); }\n",
    )
    shop.cc(level, "-S", "a.c").ok()
    assert "__tsan_write4" in (shop.path / "a.s").read_text()


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_a_load_is_told_though_a_store_follows(shop: Shop, level: str) -> None:
    """Else nobody could be let in before it, behind what was looked at earlier."""
    shop.write("a.c", "int stock;\nvoid buy(void) { stock = stock - 1; }\n")
    shop.cc(level, "-S", "a.c").ok()
    code = (shop.path / "a.s").read_text()
    assert "__tsan_read4" in code
    assert "__tsan_write4" in code


@pytest.mark.parametrize("form", ["-o out.o", "-oout.o", "--output=out.o"])
def test_the_output_is_where_it_is_asked_for(gcc: Shop, form: str) -> None:
    gcc.write("a.c", ADD)
    gcc.cc("-c", "a.c", *form.split()).ok()
    assert gcc.is_instrumented("out.o")


def test_several_sources_in_one_call(shop: Shop) -> None:
    for name in ("a.c", "folder/b.c"):
        shop.write(name, ADD)
    shop.cc("-c", "a.c", "folder/b.c").ok()
    assert shop.is_instrumented("a.o")
    assert shop.is_instrumented("b.o")


def test_from_standard_input(shop: Shop) -> None:
    shop.cc("-x", "c", "-c", "-", "-o", "a.o", stdin=ADD).ok()
    assert shop.is_instrumented("a.o")


def test_a_language_that_the_name_does_not_tell(shop: Shop) -> None:
    shop.write("a.txt", "template <class T> T same(T t) { return t; }\nint x = same(1);\n")
    shop.cxx("-x", "c++", "-c", "a.txt", "-o", "a.o").ok()
    assert shop.is_instrumented("a.o")


def test_preprocessing_tells_that_threads_are_watched(shop: Shop) -> None:
    text = "#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)\nyes\n#endif\n"
    text = "#ifndef __has_feature\n#define __has_feature(x) 0\n#endif\n" + text
    assert "yes" in shop.cc("-E", "-x", "c", "-", stdin=text).ok().output


def test_assembly_from_c(shop: Shop) -> None:
    shop.write("a.c", ADD)
    shop.cc("-S", "a.c").ok()
    assert "__tsan_func_entry" in (shop.path / "a.s").read_text()
    shop.cc("-c", "a.s").ok()
    assert shop.is_instrumented("a.o")


def test_assembler_sources_pass_even_with_werror(shop: Shop) -> None:
    shop.write("a.S", "#define NAME answer\n.globl NAME\nNAME: ret\n")
    shop.write("b.s", ".globl other\nother: ret\n")
    shop.cc("-Werror", "-Wall", "-c", "a.S", "b.s").ok()
    assert "answer" in shop.symbols("a.o")
    assert not shop.is_instrumented("a.o")


def test_dependency_files(shop: Shop) -> None:
    shop.write("a.h", "#define ONE 1\n")
    shop.write("a.c", '#include "a.h"\nint one = ONE;\n')
    shop.cc("-MD", "-MP", "-MT", "target", "-MF", "deps.mk", "-c", "a.c", "-o", "a.o").ok()
    text = (shop.path / "deps.mk").read_text()
    assert text.startswith("target:")
    assert "a.h" in text
    shop.cc("-MMD", "-c", "a.c").ok()
    assert (shop.path / "a.d").read_text().startswith("a.o:")
    assert "a.h" in shop.cc("-MM", "a.c").ok().output


def test_only_the_syntax(shop: Shop) -> None:
    shop.write("a.c", ADD)
    shop.cc("-fsyntax-only", "a.c").ok()
    shop.write("wrong.c", "int f( {\n")
    assert shop.cc("-fsyntax-only", "wrong.c").status == 1


def test_a_precompiled_header(shop: Shop) -> None:
    shop.write("a.h", "static inline int one(void) { return 1; }\n")
    shop.write("a.c", '#include "a.h"\nint f(void) { return one(); }\n')
    shop.cc("a.h", "-o", "a.h.gch").ok()
    shop.cc("-c", "a.c").ok()
    assert shop.is_instrumented("a.o")


def test_a_response_file(shop: Shop) -> None:
    shop.write("a b.c", ADD)
    shop.write("words", '-c "a b.c"\n-o out.o -DNAME=\\"x\\"\n')
    shop.cc("@words").ok()
    assert shop.is_instrumented("out.o")


def test_one_file_may_be_left_without_instrumentation(shop: Shop) -> None:
    shop.write("a.c", ADD)
    shop.cc("-fno-sanitize=thread", "-c", "a.c").ok()
    assert not shop.is_instrumented("a.o")


def test_fences_with_werror(gcc: Shop) -> None:
    """gcc's own warning about them is about libtsan."""
    gcc.write("a.c", "void f(void) { __atomic_thread_fence(5); }\n")
    assert gcc.run("gcc", "-fsanitize=thread", "-Werror", "-c", "a.c").status == 1
    gcc.cc("-Wall", "-Wextra", "-Werror", "-c", "a.c").ok()


def test_what_the_compiler_warns_of_is_still_an_error_with_werror(shop: Shop) -> None:
    shop.write("a.c", "int f(void) { int unused; return 0; }\n")
    assert "unused" in shop.cc("-Wall", "-Werror", "-c", "a.c").errors
    assert shop.cc("-Wall", "-Werror", "-c", "a.c").status == 1


@pytest.mark.parametrize(
    "words",
    ["--version", "-v", "-dumpmachine", "-dumpversion", "-print-search-dirs", "--help", "-E"],
)
def test_questions_are_answered_by_the_compiler(shop: Shop, words: str) -> None:
    ours, theirs = shop.cc(words), shop.plain(words)
    assert (ours.status, ours.output) == (theirs.status, theirs.output)
    assert ours.errors == theirs.errors


def test_without_words_the_compiler_says_so(shop: Shop) -> None:
    assert shop.cc() == shop.plain()


@pytest.mark.parametrize("option", ["-m32", "-mx32", "--target=aarch64-linux-gnu"])
def test_other_machines_are_refused(shop: Shop, option: str) -> None:
    shop.write("a.c", ADD)
    shop.cc(option, "-c", "a.c").refused(64, option, "x86-64")


@pytest.mark.parametrize("name", ["address", "thread,leak", "memory", "undefined,hwaddress"])
def test_other_sanitizers_are_refused(shop: Shop, name: str) -> None:
    shop.write("a.c", ADD)
    shop.cc(f"-fsanitize={name}", "-c", "a.c").refused(64, "-fsanitize=", "-fsanitize=thread")
    shop.cc(f"-fsanitize={name}", "a.c").refused(64, "-fsanitize=")


def test_a_sanitizer_that_is_taken_back_is_no_reason_to_refuse(shop: Shop) -> None:
    shop.write("a.c", ADD)
    shop.cc("-fsanitize=address", "-fno-sanitize=address", "-c", "a.c").ok()


def test_lto_is_left_out_and_said(shop: Shop) -> None:
    flags = {"gcc": ["-flto=auto", "-ffat-lto-objects"], "clang": ["-flto=thin"]}[shop.family]
    shop.write("a.c", ADD)
    told = shop.cc(*flags, "-c", "a.c").ok().errors
    assert "-flto is left out" in told
    assert shop.is_instrumented("a.o")
    assert ".lto" not in shop.run("readelf", "-SW", "a.o").ok().output
    assert shop.cc("-flto", "-fno-lto", "-c", "a.c").ok().errors == ""


def test_lto_in_a_response_file_is_left_out_too(shop: Shop) -> None:
    shop.write("a b.c", ADD)
    shop.write("words", '-flto -c "a b.c" -o a.o\n')
    assert "-flto is left out" in shop.cc("@words").ok().errors
    assert shop.is_instrumented("a.o")


# --- which compiler


def test_without_a_word_gcc_is_taken_and_clang_where_gcc_is_not(gcc: Shop) -> None:
    for names, wanted in ((("gcc", "clang"), "gcc"), (("clang",), "clang")):
        folder = gcc.path / "-".join(names)
        folder.mkdir()
        for name in names:
            script = folder / name
            script.write_text(f"#!/bin/sh\necho {name} was called\n")
            script.chmod(0o755)
        said = gcc.run(
            sys.executable, "-m", "eitherway", "cc", "-c", "a.c", EITHERWAY_CC="", PATH=str(folder)
        )
        assert said.ok().output == f"{wanted} was called\n"


def test_a_machine_without_a_compiler(gcc: Shop) -> None:
    said = gcc.run(sys.executable, "-m", "eitherway", "cc", "a.c", EITHERWAY_CC="", PATH="/none")
    said.refused(69, "needs gcc or clang", "apt-get install")


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("no-such-compiler", "there is no program no-such-compiler"),
        ("   ", "names no compiler"),
        ("gcc '", "quotation"),
        (str(TOOL / "eitherway") + " cc", "would call itself"),
        ("/bin/false", "is no compiler"),
    ],
)
def test_a_compiler_that_is_none(gcc: Shop, named: str, words: str) -> None:
    gcc.cc("-c", "a.c", EITHERWAY_CC=named).refused(64, words)


def test_a_launcher_before_the_compiler(shop: Shop) -> None:
    launcher = shop.path / "ccache"
    launcher.write_text('#!/bin/sh\necho launched >&2\nexec "$@"\n')
    launcher.chmod(0o755)
    shop.write("a.c", HELLO)
    compiler = shop.variables["EITHERWAY_CC"]
    said = shop.cc("-Werror", "-c", "a.c", EITHERWAY_CC=f"{launcher} {compiler}").ok()
    assert said.errors == "launched\n"
    assert shop.is_instrumented("a.o")


def test_a_compiler_with_another_name_is_asked_what_it_is(shop: Shop) -> None:
    other = shop.path / "house-compiler"
    other.write_text(f'#!/bin/sh\nexec {shop.variables["EITHERWAY_CC"]} "$@"\n')
    other.chmod(0o755)
    shop.write("a.s", ".globl x\nx: ret\n")
    shop.cc("-Werror", "-c", "a.s", EITHERWAY_CC=str(other)).ok()


def test_a_folder_for_temporary_files_that_is_not_there(gcc: Shop) -> None:
    gcc.write("a.c", HELLO)
    missing = os.path.join(gcc.path, "missing")
    gcc.cc("a.c", TMPDIR=missing).refused(69, "no temporary files", "TMPDIR")
