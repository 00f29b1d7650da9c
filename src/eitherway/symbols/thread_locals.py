# SPDX-License-Identifier: Apache-2.0
"""Thread-local variables of a program, by where they lie below a thread's pointer."""

import re
from functools import lru_cache

from eitherway.symbols.dwarf import output_of
from eitherway.symbols.files import File, file_at
from eitherway.symbols.variables import Variable, Variables, demangled

_SEGMENT = re.compile(r"^\s+TLS\s+(?:0x\S+\s+){4}(0x\S+)\s+\S+\s+(0x\S+)$", re.MULTILINE)
_SYMBOL = re.compile(r"^\s*\d+:\s+([0-9a-f]+)\s+(\d+)\s+TLS\s.*\s(\S+)$", re.MULTILINE)


def thread_variables_of(program: str) -> Variables:
    """Their starts are negative: what the program itself has lies just below the pointer."""
    return _read(file_at(program))


@lru_cache(maxsize=64)
def _read(file: File) -> Variables:
    answer = output_of(["readelf", "--segments", "--symbols", "--wide", file.path])
    segment = _SEGMENT.search(answer)
    if segment is None:
        return Variables(())
    size, align = int(segment[1], 16), max(int(segment[2], 16), 1)
    whole = -(-size // align) * align
    found = {(int(s[1], 16), int(s[2]), s[3]) for s in _SYMBOL.finditer(answer)}
    names = demangled([name for _, _, name in found])
    variables = [
        Variable(name, start - whole, length)
        for (start, length, _), name in zip(found, names, strict=True)
    ]
    return Variables(tuple(sorted(variables, key=lambda variable: variable.start)))
