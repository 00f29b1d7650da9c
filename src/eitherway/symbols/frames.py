# SPDX-License-Identifier: Apache-2.0
"""Local variables of functions, by where they lie in a frame, through LLVM's tools.

Offsets are counted from the end of the frame: the stack pointer before the call. Where the tools
are not there, or the compiler counts from a register that moves, no variable has a name.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from eitherway.symbols.dwarf import dwarfdump, output_of
from eitherway.symbols.files import File, file_at

# Where the frame base that variables are counted from lies, from the end of the frame.
_BASES = {"DW_OP_call_frame_cfa": 0, "DW_OP_reg6 RBP": -16}
_BASE = re.compile(r"DW_AT_frame_base\s+\((.*)\)")


@dataclass(frozen=True, slots=True)
class Local:
    """A variable in a frame: [start, start + size), counted from the frame's end."""

    function: str
    name: str
    start: int
    size: int


def local_at(module: str, code: int, offset: int) -> Local | None:
    """The one that lies there in the frame of the function that this code belongs to."""
    inside = [v for v in _locals(file_at(module), code) if v.start <= offset < v.start + v.size]
    return min(inside, key=lambda v: v.size, default=None)


@lru_cache(maxsize=1024)
def _locals(file: File, code: int) -> tuple[Local, ...]:
    base = _BASE.search(dwarfdump(file.path, f"--lookup={code:#x}"))
    if base is None or base[1] not in _BASES:
        return ()
    command = ["llvm-symbolizer", f"--obj={file.path}", "--demangle", f"FRAME {code:#x}"]
    lines = output_of(command).splitlines()
    found = (_local(*lines[i : i + 4]) for i in range(0, len(lines) - 3, 4))
    return tuple(
        Local(v.function, v.name, v.start + _BASES[base[1]], v.size) for v in found if v is not None
    )


_LIES = re.compile(r"(-?\d+) (\d+) ")


def _local(function: str, name: str, _declared: str, lies: str) -> Local | None:
    """Four lines: the function, the variable, where it is declared, `OFFSET SIZE TAG`."""
    match = _LIES.match(lies)
    return Local(function, name, int(match[1]), int(match[2])) if match else None
