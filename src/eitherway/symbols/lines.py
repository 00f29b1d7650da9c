# SPDX-License-Identifier: Apache-2.0
"""Code addresses to stack frames, inlined ones included, through the symbolizer of the machine.

llvm-symbolizer is preferred because it knows columns; binutils' addr2line answers otherwise. Each
is started once per module with all its addresses that were not asked for before.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence

from eitherway.errors import Unavailable
from eitherway.model.finding import Frame
from eitherway.symbols.files import File, file_at

Frames = tuple[Frame, ...]  # innermost first; the last one is not inlined
Backend = Callable[[str, str, Sequence[int]], list[Frames]]


_answered: dict[File, dict[int, Frames]] = {}


def frames_at(module: str, offsets: Sequence[int]) -> list[Frames]:
    """The frames at each offset (an address of the ELF file), one tuple per offset."""
    answers = _answered.setdefault(file_at(module), {})
    new = sorted({offset for offset in offsets if offset not in answers})
    if new:
        answers.update(zip(new, _asked(module, new), strict=True))
    return [answers[offset] for offset in offsets]


def _asked(module: str, offsets: Sequence[int]) -> list[Frames]:
    for name, backend in _BACKENDS.items():
        if program := shutil.which(name):
            return backend(program, module, offsets)
    raise Unavailable(
        "naming source lines needs llvm-symbolizer or addr2line; neither is on the PATH",
        fix="apt-get install binutils",
        instead="functions and lines show as module+offset",
    )


def _with_llvm(program: str, module: str, offsets: Sequence[int]) -> list[Frames]:
    command = [program, f"--obj={module}", "--output-style=JSON", "--inlines", "--demangle"]
    answers = _ask(command, offsets).splitlines()
    return [
        _llvm_frames(module, offset, answer)
        for offset, answer in zip(offsets, answers, strict=True)
    ]


def _llvm_frames(module: str, offset: int, answer: str) -> Frames:
    symbols = json.loads(answer).get("Symbol") or [{}]
    return tuple(
        Frame(
            function=_known(symbol.get("FunctionName", "")),
            file=_known(symbol.get("FileName", "")),
            line=symbol.get("Line", 0),
            column=symbol.get("Column", 0),
            module=module,
            offset=offset,
            inlined=index < len(symbols) - 1,
        )
        for index, symbol in enumerate(symbols)
    )


_ADDRESS = re.compile(r"^0x[0-9a-f]+$", re.MULTILINE)


def _with_binutils(program: str, module: str, offsets: Sequence[int]) -> list[Frames]:
    command = [program, "--addresses", "--inlines", "--functions", "--demangle", "--exe", module]
    answers = _ADDRESS.split(_ask(command, offsets))[1:]
    return [
        _binutils_frames(module, offset, answer.strip().splitlines())
        for offset, answer in zip(offsets, answers, strict=True)
    ]


def _binutils_frames(module: str, offset: int, lines: list[str]) -> Frames:
    """Pairs of lines: a function, then file:line with perhaps a discriminator behind it."""
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    frames = []
    for index, (function, place) in enumerate(pairs):
        file, _, line = place.partition(" ")[0].rpartition(":")
        frames.append(
            Frame(
                function=_known(function),
                file=_known(file),
                line=int(line) if line.isdigit() else 0,
                module=module,
                offset=offset,
                inlined=index < len(pairs) - 1,
            )
        )
    return tuple(frames)


def _known(text: str) -> str:
    return "" if text == "??" else text


def _ask(command: list[str], offsets: Sequence[int]) -> str:
    run = subprocess.run(
        command,
        input="".join(f"{offset:#x}\n" for offset in offsets),
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    if run.returncode != 0:
        raise Unavailable(f"{command[0]} failed: {run.stderr.strip() or run.returncode}")
    return run.stdout


_BACKENDS: dict[str, Backend] = {"llvm-symbolizer": _with_llvm, "addr2line": _with_binutils}
