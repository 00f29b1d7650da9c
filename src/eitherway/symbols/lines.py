# SPDX-License-Identifier: Apache-2.0
"""Code addresses to stack frames, inlined ones included, through the symbolizer of the machine.

llvm-symbolizer is preferred because it knows columns; binutils' addr2line answers otherwise. To
start it takes longer than to be answered: it is asked at once for all that was not asked before.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, islice
from operator import itemgetter

from eitherway.errors import Unavailable
from eitherway.model.finding import Frame
from eitherway.symbols.files import File, file_at

Frames = tuple[Frame, ...]  # innermost first; the last one is not inlined
Asked = Sequence[tuple[str, int]]  # modules and offsets, those of one module together
Backend = Callable[[str, Asked], Iterator[Frames]]

_answered: dict[File, dict[int, Frames]] = {}


def frames_at(module: str, offsets: Sequence[int]) -> list[Frames]:
    """The frames at each offset (an address of the ELF file), one tuple per offset."""
    return frames_in([(module, offsets)])[0]


def frames_in(modules: Sequence[tuple[str, Sequence[int]]]) -> list[list[Frames]]:
    """The same of several modules."""
    answers = [_answered.setdefault(file_at(module), {}) for module, _ in modules]
    new = [
        sorted({offset for offset in offsets if offset not in known})
        for (_, offsets), known in zip(modules, answers, strict=True)
    ]
    asked = [(m, at) for (m, _), some in zip(modules, new, strict=True) for at in some]
    found = _backend()(asked) if asked else iter(())
    for known, some in zip(answers, new, strict=True):
        known.update(zip(some, islice(found, len(some)), strict=True))
    return [
        [known[at] for at in offsets] for (_, offsets), known in zip(modules, answers, strict=True)
    ]


def _backend() -> Callable[[Asked], Iterator[Frames]]:
    for name, backend in _BACKENDS.items():
        if program := shutil.which(name):
            return partial(backend, program)
    raise Unavailable(
        "naming source lines needs llvm-symbolizer or addr2line; neither is on the PATH",
        fix="apt-get install binutils",
        instead="functions and lines show as module+offset",
    )


def _with_llvm(program: str, asked: Asked) -> Iterator[Frames]:
    """All in one go; a name that cannot be told among others has one of its own."""
    for alone, part in groupby(asked, lambda one: one[0] if _ODD.search(one[0]) else ""):
        these = list(part)
        command = [program, "--output-style=JSON", "--inlines", "--demangle"]
        command += [f"--obj={alone}"] if alone else []
        lines = [f"{at:#x}" if alone else f'"{module}" {at:#x}' for module, at in these]
        for (module, at), answer in zip(these, _ask(command, lines).splitlines(), strict=True):
            yield _llvm_frames(module, at, answer)


_ODD = re.compile(r'["\r\n]')


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


def _with_binutils(program: str, asked: Asked) -> Iterator[Frames]:
    options = ["--addresses", "--inlines", "--functions", "--demangle", "--exe"]
    for module, part in groupby(asked, itemgetter(0)):
        offsets = [offset for _, offset in part]
        told = _ask([program, *options, module], [f"{offset:#x}" for offset in offsets])
        for offset, answer in zip(offsets, _ADDRESS.split(told)[1:], strict=True):
            yield _binutils_frames(module, offset, answer.strip().splitlines())


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


def _ask(command: list[str], lines: Sequence[str]) -> str:
    run = subprocess.run(
        command,
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    if run.returncode != 0:
        raise Unavailable(f"{command[0]} failed: {run.stderr.strip() or run.returncode}")
    return run.stdout


_BACKENDS: dict[str, Backend] = {"llvm-symbolizer": _with_llvm, "addr2line": _with_binutils}
