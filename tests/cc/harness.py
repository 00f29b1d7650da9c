# SPDX-License-Identifier: Apache-2.0
"""A folder in which `eitherway cc` is called as a build would call it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eitherway.worlds.threads import note

TOOL = Path(sys.executable).parent  # where `eitherway` is installed
# The kernel's word on which thread runs, asked without libc: under control all threads are one.
CARRIER = r"""
static long kernel_thread(void) {
    long number = 186 /* gettid */;
    __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
    return number;
}
"""
THREAD = f"""
#include <pthread.h>
#include <stdio.h>
{CARRIER}
static void *body(void *id) {{ *(long *)id = kernel_thread(); return 0; }}
int main(void) {{
    pthread_t thread;
    long id = 0;
    pthread_create(&thread, 0, body, &id);
    pthread_join(thread, 0);
    puts(id == kernel_thread() ? "controlled" : "not controlled");
    return 0;
}}
"""
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'


@dataclass(frozen=True)
class Result:
    """How a call ended."""

    status: int
    output: str
    errors: str

    def ok(self) -> "Result":
        assert self.status == 0, self.output + self.errors
        return self

    def refused(self, status: int, *words: str) -> None:
        assert self.status == status, self.output + self.errors
        assert "Traceback" not in self.errors
        for word in words:
            assert word in self.errors


@dataclass(frozen=True)
class Shop:
    """The folder, and the compiler family that is behind `eitherway cc`."""

    path: Path
    family: str = "gcc"
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, str]:
        compilers = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}[self.family]
        return {
            **os.environ,
            "PATH": f"{TOOL}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(self.temporary),
            "LC_ALL": "C",
            "EITHERWAY_CC": compilers[0],
            "EITHERWAY_CXX": compilers[1],
            **self.environment,
        }

    @property
    def temporary(self) -> Path:
        """Where `eitherway cc` may put files, and must leave none."""
        folder = self.path / "temporary"
        folder.mkdir(exist_ok=True)
        return folder

    def write(self, name: str, text: str) -> str:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return name

    def run(self, *words: str | Path, stdin: str = "", **variables: str) -> Result:
        run = subprocess.run(
            list(words),
            cwd=self.path,
            env={**self.variables, **variables},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        left = [each.name for each in self.temporary.iterdir() if "eitherway" in each.name]
        assert not left, left
        return Result(run.returncode, run.stdout, run.stderr)

    def cc(self, *words: str | Path, stdin: str = "", **variables: str) -> Result:
        return self.run("eitherway", "cc", *words, stdin=stdin, **variables)

    def cxx(self, *words: str | Path, stdin: str = "", **variables: str) -> Result:
        return self.run("eitherway", "c++", *words, stdin=stdin, **variables)

    def plain(self, *words: str | Path) -> Result:
        """The compiler itself."""
        return self.run(self.variables["EITHERWAY_CC"], *words)

    def symbols(self, name: str, *options: str) -> set[str]:
        """As nm tells them."""
        lines = self.run("nm", *options, name).ok().output.splitlines()
        return {line.split()[-1] for line in lines if line.strip()}

    def is_instrumented(self, name: str) -> bool:
        return "__tsan_init" in self.symbols(name, "-u")

    def note(self, name: str) -> note.Note:
        found = note.read(self.path / name)
        assert found is not None
        return found


def has(program: str) -> bool:
    return shutil.which(program) is not None
