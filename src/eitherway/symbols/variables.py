# SPDX-License-Identifier: Apache-2.0
"""Data addresses to the global variables that lie there, from the ELF symbol table."""

import bisect
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from eitherway.errors import Unavailable
from eitherway.symbols.files import File, file_at

_DATA = frozenset("bBdDrRsSgGvVuC")  # what nm calls symbols in data sections


@dataclass(frozen=True, slots=True)
class Variable:
    """A global variable: [start, start + size) in the ELF file's addresses."""

    name: str
    start: int
    size: int


@dataclass(frozen=True)
class Variables:
    """The global variables of one module."""

    variables: tuple[Variable, ...]  # by start

    @cached_property
    def _starts(self) -> list[int]:
        return [variable.start for variable in self.variables]

    def at(self, offset: int) -> Variable | None:
        """The variable that covers this address."""
        index = bisect.bisect_right(self._starts, offset) - 1
        if index < 0:
            return None
        variable = self.variables[index]
        return variable if offset < variable.start + variable.size else None


def variables_of(module: str) -> Variables:
    """The symbol table in names; of a stripped module, what it lets others use."""
    return _read(file_at(module))


@lru_cache(maxsize=256)
def _read(file: File) -> Variables:
    program = shutil.which("nm")
    if program is None:
        raise Unavailable("naming variables needs nm", fix="apt-get install binutils")
    found = _listed(program, file.path) or _listed(program, "--dynamic", file.path)
    names = demangled([variable.name for variable in found])
    named = (replace(v, name=name) for v, name in zip(found, names, strict=True))
    return Variables(tuple(sorted(named, key=lambda variable: variable.start)))


def _listed(program: str, *words: str) -> list[Variable]:
    command = [program, "--print-size", "--defined-only", *words]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return list(filter(None, map(_variable, run.stdout.splitlines())))


_PART = re.compile(r"(\.\d+)+$")  # clang splits a variable and numbers the parts; statics likewise


def demangled(names: list[str]) -> list[str]:
    """As in the source; one call for all of them."""
    whole = [_PART.sub("", name) for name in names]
    program = shutil.which("c++filt")
    if program is None or not any(name.startswith("_Z") for name in whole):
        return whole
    text = "\n".join(whole) + "\n"
    run = subprocess.run(
        [program], input=text, capture_output=True, text=True, errors="replace", check=False
    )
    lines = run.stdout.splitlines()
    return lines if len(lines) == len(whole) else whole


def _variable(line: str) -> Variable | None:
    """`0000000000004048 0000000000000004 B counter`; lines without a size are no variables."""
    fields = line.split(" ", 3)
    if len(fields) < 4 or fields[2] not in _DATA:
        return None
    return Variable(fields[3], int(fields[0], 16), int(fields[1], 16))
