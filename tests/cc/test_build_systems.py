# SPDX-License-Identifier: Apache-2.0
"""make, a configure script and CMake take `eitherway cc` for the compiler it stands for."""

import re
import shutil

import pytest
from tests.cc.harness import THREAD, TOOL, Shop

ADD = "int total;\nint add(int a) { return total += a; }\n"
MAKEFILE = """
CFLAGS = -O1 -g -Wall -Werror -MMD -MP
program: main.o libadd.a libshared.so
\t$(CC) $(LDFLAGS) main.o -L. -ladd -lshared -Wl,-rpath,'$$ORIGIN' -pthread -o $@
libadd.a: add.o
\t$(AR) rcs $@ $^
libshared.so: shared.cc
\t$(CXX) -fPIC -shared -Wl,-z,defs -Wl,-soname,$@ -o $@ $^
-include main.d
"""
MAIN = THREAD.replace("int main(void) {", "int add(int), shared(int);\nint main(void) {").replace(
    "return 0;\n}", "return add(3) + shared(4) - 7;\n}"
)
# What autoconf's macros do, with the shell.
CONFIGURE = r"""#!/bin/sh
try() { # try NAME WORDS...: whether the words make a program from standard input
    name=$1; shift
    cat > conftest.c
    if "$@" -o conftest conftest.c $LIBS > conftest.log 2>&1; then echo "$name yes"
    else echo "$name no"; fi
}
clean() { # the same, and the compiler says nothing: as autoconf checks a warning flag
    name=$1; shift
    cat > conftest.c
    if "$@" -c conftest.c 2> conftest.err && ! test -s conftest.err; then echo "$name yes"
    else echo "$name no"; fi
}
echo 'int main(void) { return 0; }' | try works $CC
./conftest && echo "runs yes"
echo 'int main(void) { return 3; }' | try status $CC
./conftest; test $? = 3 && echo "status kept"
echo 'char pthread_create(); int main(void) { return pthread_create(); }' | try pthread_create $CC
echo 'char no_such_function(); int main(void) { return no_such_function(); }' | try missing $CC
echo 'int main(void) { return sizeof(long) == 8 ? 0 : 1; }' | try long64 $CC
./conftest && echo "long64 right"
echo 'int f(void) { return 0; }' | clean wall $CC -Wall -Werror
echo 'int f(void) { return 0; }' | clean nonsense $CC -fno-such-option
echo '#include <no-such-header.h>' > conftest.c
$CC -E conftest.c > /dev/null 2>&1 || echo "header missing"
echo '__SIZEOF_POINTER__' > conftest.c
test "$($CC -E -P conftest.c | tail -n 1)" = 8 && echo "cpp right"
cat > Makefile.config <<end
CC = $CC
CXX = $CXX
end
"""
ANSWERS = """works yes
runs yes
status yes
status kept
pthread_create yes
missing no
long64 yes
long64 right
wall yes
nonsense no
header missing
cpp right
"""


def sources(shop: Shop) -> None:
    shop.write("main.c", MAIN)
    shop.write("add.c", ADD)
    shop.write("shared.cc", '#include <string>\nextern "C" int shared(int a) { return a; }\n')


def test_make(shop: Shop) -> None:
    sources(shop)
    shop.write("Makefile", MAKEFILE)
    shop.run("make", "CC=eitherway cc", "CXX=eitherway c++").ok()
    assert shop.run("./program").ok().output == "controlled\n"
    assert (shop.note("program").files, shop.note("program").share) == (2, 1.0)
    assert shop.note("libshared.so").is_library
    assert "up to date" in shop.run("make", "CC=eitherway cc").ok().output


def test_configure(shop: Shop) -> None:
    """The answers are those that the compiler itself gives."""
    shop.write("configure", CONFIGURE)
    ours = shop.run("sh", "configure", CC="eitherway cc", CXX="eitherway c++", LIBS="-lm").ok()
    theirs = shop.run("sh", "configure", CC=shop.variables["EITHERWAY_CC"], LIBS="-lm").ok()
    assert ours.output == theirs.output == ANSWERS


def test_libtool_finds_only_the_compilers_own_objects(shop: Shop) -> None:
    """It asks with -v which objects and libraries a C++ library needs, and repeats them later."""
    shop.write("a.cc", "int a() { return 1; }\n")
    shop.cxx("-fPIC", "-c", "a.cc").ok()
    found = []
    for tool in ("eitherway c++", shop.variables["EITHERWAY_CXX"]):
        words = [*tool.split(), "-shared", "a.o", "-v", "-o", "a.so"]
        said = shop.run(*words).ok().errors.split()
        found.append([w.strip('"') for w in said if re.search(r'\.(o|a)"?$|^"?-l', w)])
    assert found[0] == found[1]


CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(sample C CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_package(Threads REQUIRED)
include(CheckFunctionExists)
include(CheckCCompilerFlag)
include(CheckCSourceRuns)
check_function_exists(pthread_barrier_wait HAVE_BARRIER)
check_function_exists(no_such_function HAVE_NOTHING)
check_c_compiler_flag(-Wall HAVE_WALL)
check_c_compiler_flag(-fno-such-option HAVE_NONSENSE)
check_c_source_runs("int main(void) { return 0; }" RUNS)
foreach(answer HAVE_BARRIER HAVE_NOTHING HAVE_WALL HAVE_NONSENSE RUNS)
  message(STATUS "${answer}=[${${answer}}]")
endforeach()
message(STATUS "C=[${CMAKE_C_COMPILER_ID}] CXX=[${CMAKE_CXX_COMPILER_ID}]")
add_library(add STATIC add.c)
add_library(shared SHARED shared.cc)
target_link_options(shared PRIVATE -Wl,--no-undefined)
add_executable(program main.c)
target_link_libraries(program PRIVATE add shared Threads::Threads)
"""


def test_cmake(shop: Shop) -> None:
    cmake = shutil.which("cmake", path=str(TOOL)) or shutil.which("cmake")
    if cmake is None:
        pytest.fail("the dev extra brings cmake: pip install cmake")
    sources(shop)
    shop.write("CMakeLists.txt", CMAKE)
    words = [cmake, "-S", ".", "-B", "made", "-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=Debug"]
    said = shop.run(*words, CC="eitherway cc", CXX="eitherway c++").ok().output
    family = {"gcc": "GNU", "clang": "Clang"}[shop.family]
    assert f"C=[{family}] CXX=[{family}]" in said
    for answer in ("HAVE_BARRIER=[1]", "HAVE_NOTHING=[]", "HAVE_WALL=[1]", "HAVE_NONSENSE=[]"):
        assert answer in said
    assert "RUNS=[1]" in said
    shop.run(cmake, "--build", "made").ok()
    assert shop.run("made/program").ok().output == "controlled\n"
    assert shop.note("made/program").share == 1.0
    assert shop.note("made/libshared.so").is_library
