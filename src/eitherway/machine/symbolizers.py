# SPDX-License-Identifier: Apache-2.0
"""Symbolizers: each finds the line of a function in a program compiled on the spot."""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from eitherway.machine.capability import Seen, State
from eitherway.machine.compilers import find_c_compiler
from eitherway.machine.run import Ran, failed, run

# The program tells where its function lies; at a fixed address, that is also where the file has it.
SOURCE = """
#include <stdio.h>
#line 4711
int landmark(void) { return 1; }
#line 1
int main(void) { return printf("%p", (void *)landmark) < 0; }
"""
EXPECTED = "4711"
FLAGS = ("-g", "-O0", "-fno-pie", "-no-pie")

# Through libdw's offline mode, in a process of its own: a crash there must not be ours.
LIBDW = """
import ctypes, sys
dw = ctypes.CDLL("libdw.so.1")
P = ctypes.c_void_p
class Callbacks(ctypes.Structure):
    _fields_ = [("find_elf", P), ("find_debuginfo", P), ("section_address", P), ("path", P)]
for name in ("dwfl_begin", "dwfl_report_offline", "dwfl_addrmodule", "dwfl_module_getsrc",
             "dwfl_lineinfo"):
    getattr(dw, name).restype = P
dw.dwfl_version.restype = ctypes.c_char_p
address = lambda function: ctypes.cast(function, P)
callbacks = Callbacks(address(dw.dwfl_build_id_find_elf), address(dw.dwfl_standard_find_debuginfo),
                      address(dw.dwfl_offline_section_address), None)
session = P(dw.dwfl_begin(ctypes.byref(callbacks)))
module = P(dw.dwfl_report_offline(session, b"", sys.argv[1].encode(), -1))
dw.dwfl_report_end(session, None, None)
where = ctypes.c_uint64(int(sys.argv[2], 16))
line = P(dw.dwfl_module_getsrc(module, where))
number = ctypes.c_int()
if line:
    dw.dwfl_lineinfo(line, None, ctypes.byref(number), None, None, None)
print(dw.dwfl_version(session).decode(), number.value)
"""

Lookup = Callable[[Path, str], Ran]


def probe_llvm_symbolizer() -> Seen:
    """llvm-symbolizer of the PATH, under its plain name or with a version."""
    path = _find("llvm-symbolizer")
    return _probe("llvm-symbolizer", path, lambda file, at: run([path, f"--obj={file}", at]))


def probe_addr2line() -> Seen:
    """binutils' addr2line."""
    path = _find("addr2line")
    return _probe("addr2line", path, lambda file, at: run([path, "-e", str(file), at]))


def probe_libdw() -> Seen:
    """elfutils' library; there is no program to look for."""
    version = run([sys.executable, "-I", "-c", 'import ctypes; ctypes.CDLL("libdw.so.1")'])
    if not version.ok:
        return Seen(State.NO, "no libdw.so.1 can be loaded")
    return _try("libdw", lambda file, at: run([sys.executable, "-I", "-c", LIBDW, str(file), at]))


def _find(name: str) -> str:
    names = (name, *(f"{name}-{version}" for version in range(25, 13, -1)))
    return next((path for path in map(shutil.which, names) if path), "")


def _probe(name: str, path: str, look_up: Lookup) -> Seen:
    if not path:
        return Seen(State.NO, f"no {name} on the PATH")
    version = run([path, "--version"])
    if not version.ok:
        return failed(version, f"{name} --version")
    number = re.search(r"\d+\.\d+(\.\d+)*", version.output)
    return _try(f"{name} {number[0] if number else '(unknown version)'}", look_up)


def _try(title: str, look_up: Lookup) -> Seen:
    compiler = find_c_compiler()
    if not compiler:
        return Seen(State.PARTLY, f"{title}, not tried: there is no compiler to make a file for it")
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        program = Path(folder) / "landmark"
        arguments = [compiler, "-x", "c", *FLAGS, "-", "-o", str(program)]
        if not run(arguments, text=SOURCE, cwd=folder).ok:
            return Seen(State.PARTLY, f"{title}, not tried: {compiler} made no file for it")
        ran = look_up(program, run([str(program)], cwd=folder).output)
    if not ran.ok:
        return failed(ran, title)
    if EXPECTED not in ran.output:
        return Seen(State.NO, f"{title} does not find the line of a function")
    return Seen(State.YES, title)
