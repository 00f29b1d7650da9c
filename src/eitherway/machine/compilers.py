# SPDX-License-Identifier: Apache-2.0
"""Compilers: each builds, links and runs a program with thread-sanitizer code generation.

As the product does, the program is linked with a runtime of its own and not with libtsan.
"""

import re
import shutil
import tempfile
from pathlib import Path

from eitherway.machine.capability import Seen, State
from eitherway.machine.run import failed, run

# Older ones may work, but their calls into the runtime are not covered by our tests.
OLDEST = {"gcc": 12, "g++": 12, "clang": 14, "clang++": 14}

PROGRAM = "int shared;\nint main(void) { shared += 2; return shared - 2; }\n"
RUNTIME = """
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_read4(void *address) { (void)address; }
void __tsan_write4(void *address) { (void)address; }
"""


def find_c_compiler() -> str:
    """Any C compiler, to make a file for another probe; "" when there is none."""
    return shutil.which("gcc") or shutil.which("clang") or shutil.which("cc") or ""


def probe_compiler(name: str) -> Seen:
    """Whether the compiler `name` of the PATH does what `eitherway cc` asks of it."""
    path = shutil.which(name)
    if path is None:
        return Seen(State.NO, f"no {name} on the PATH")
    version = run([path, "-dumpfullversion", "-dumpversion"])
    if not version.ok:
        return failed(version, f"{name} -dumpversion")
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        return _build(path, name, version.output.strip(), Path(folder))


def _build(path: str, name: str, version: str, folder: Path) -> Seen:
    extension, guard = (".cc", 'extern "C" {%s}') if name.endswith("++") else (".c", "%s")
    program, runtime = folder / f"program{extension}", folder / f"runtime{extension}"
    program.write_text(PROGRAM if extension == ".c" else PROGRAM.replace("void", ""))
    runtime.write_text(guard % RUNTIME)
    instrumented, whole = folder / "program.o", folder / "program"
    steps = (
        ([path, "-fsanitize=thread", "-c", str(program), "-o", str(instrumented)], "compiling"),
        ([path, str(instrumented), str(runtime), "-o", str(whole)], "linking"),
        ([str(whole)], "running"),
    )
    for arguments, doing in steps:
        ran = run(arguments, cwd=str(folder))
        if not ran.ok:
            return failed(ran, f"{doing} with {name} -fsanitize=thread")
    if b"__tsan_write4" not in instrumented.read_bytes():
        return Seen(State.NO, f"{name} {version} accepts -fsanitize=thread and ignores it")
    return _judge_version(name, version)


def _judge_version(name: str, version: str) -> Seen:
    major = re.match(r"\d+", version)
    if major is None:
        return Seen(State.PARTLY, f"{name} of unknown version {version[:20]!r}")
    if int(major[0]) < OLDEST[name]:
        return Seen(State.PARTLY, f"{name} {version}, older than the {OLDEST[name]} we test with")
    return Seen(State.YES, f"{name} {version}")
