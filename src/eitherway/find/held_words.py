# SPDX-License-Identifier: Apache-2.0
"""What two threads hold that is not the same, in words: a variable where one is known."""

from itertools import zip_longest

from eitherway.symbols.frames import local_at
from eitherway.symbols.held_variables import variable_in, variable_on_stack
from eitherway.symbols.later_reads import KEPT
from eitherway.symbols.lines import Frames, frames_at
from eitherway.symbols.unwinding import Unwound
from eitherway.worlds.threads.described import actor
from eitherway.worlds.threads.held import Apart


def words_of(apart: Apart) -> str:
    """As in "'seen' of looks (in r12)"."""
    frame, thread = apart.frame, actor(apart.held.thread)
    if frame and apart.register is not None:
        return _in_register(apart, frame, apart.register)
    if frame and apart.stack is not None:
        return _on_stack(apart, frame, *apart.stack)
    if frame is None and apart.twin is None:
        return f"what {thread} returns"
    if frame is apart.twin:
        return f"what {thread} does {_place(*_code(apart, frame))}"
    return f"where {thread} goes on: {_parting(apart)}"


def _in_register(apart: Apart, frame: Unwound, register: int) -> str:
    called = KEPT[register][0]
    module, code = _code(apart, frame)
    if name := variable_in(module, code, register):
        return f"'{name}' of {_function(module, code)} (in {called})"
    return f"a register ({called}) {_place(module, code)}"


def _on_stack(apart: Apart, frame: Unwound, low: int, high: int) -> str:
    module, code = _code(apart, frame)
    below = low - frame.end
    name = local_at(module, code, below, high - low) or variable_on_stack(module, code, below)
    return f"'{name}' of {_function(module, code)}" if name else f"stack {_place(module, code)}"


def _parting(apart: Apart) -> str:
    """The outermost calls that are not the same, of what was inlined too."""
    one, other = (_frames(*_code(apart, each))[::-1] for each in (apart.frame, apart.twin))
    for mine, theirs in zip_longest(one, other):
        if mine is None or theirs is None or (mine.file, mine.line) != (theirs.file, theirs.line):
            return " or ".join(_line((each,)) if each else "its end" for each in (mine, theirs))
    return _line(one[-1:])


def _code(apart: Apart, frame: Unwound | None) -> tuple[str, int]:
    """The file and the call in it, which comes before where the function goes on."""
    module = apart.module(frame) if frame else None
    return (module.path, frame.code - module.base - 1) if module and frame else ("", 0)


def _frames(module: str, code: int) -> Frames:
    return frames_at(module, [code])[0] if module else ()


def _function(module: str, code: int) -> str:
    frames = _frames(module, code)
    return (frames[-1].function if frames else "") or f"{module.rpartition('/')[2]}+{code:#x}"


def _place(module: str, code: int) -> str:
    """Where that is written, whatever it was inlined into."""
    frames = _frames(module, code)
    if not frames or not frames[0].function:
        return f"at {module.rpartition('/')[2]}+{code:#x}"
    line = _line(frames)
    return f"in {frames[0].function}" + (f" at {line}" if line else "")


def _line(frames: Frames) -> str:
    frame = frames[0]
    where = f"{frame.file.rpartition('/')[2]}:{frame.line}"
    return where if frame.file and frame.line else frame.function
