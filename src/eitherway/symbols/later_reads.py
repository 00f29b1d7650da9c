# SPDX-License-Identifier: Apache-2.0
"""Whether a function still reads what it has in a register or on its stack, from an instruction on.

From its machine code, as objdump shows it. "No" is said only where every way through the function
overwrites the bytes first, or leaves it; what is not understood may read them. What is reached by a
pointer to the stack is not seen, and a `pop` gives back room, or what the caller had.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from eitherway.symbols.dwarf import output_of
from eitherway.symbols.files import File, file_at
from eitherway.symbols.unwinding import RBP, RBX, Rules

# Registers that a call keeps, by DWARF's numbers, with the names of their 8, 4, 2 and 1 low bytes.
KEPT = {
    RBX: ("rbx", "ebx", "bx", "bl"),
    RBP: ("rbp", "ebp", "bp", "bpl"),
    **{n: (f"r{n}", f"r{n}d", f"r{n}w", f"r{n}b") for n in (12, 13, 14, 15)},
}
_ALL = 64  # bytes: more than an instruction touches


@dataclass(frozen=True, slots=True)
class Bytes:
    """Of a register, or of the stack: counted from the stack pointer at the first instruction."""

    register: int | None
    low: int
    high: int
    frame: int | None = None  # the frame pointer, counted likewise; None: it is none


def may_read(module: str, rules: Rules, code: int, what: Bytes) -> bool:
    """Whether the function of these rules may do so from its instruction at `code` on."""
    function = _function(file_at(module), rules.start, rules.end)
    if function is None or code not in function.lines:
        return True
    return _is_read(function, [code, *rules.handlers], what)


def called_before(module: str, rules: Rules, code: int) -> str:
    """The function whose call comes right before the instruction; empty when that is not known."""
    function = _function(file_at(module), rules.start, rules.end)
    lines = function.lines.values() if function else ()
    for line in lines:
        if line.next == code and line.word.startswith("call"):
            target = _TARGET.fullmatch(line.operands[0])
            return (target[2] or "").partition("@")[0] if target else ""
    return ""


# --- the code


@dataclass(frozen=True, slots=True)
class _Line:
    """An instruction."""

    word: str
    operands: tuple[str, ...]
    next: int  # address of the one behind it; 0: there is none


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    lines: dict[int, _Line]


_LINE = re.compile(r"^\s*([0-9a-f]+):\t(.*)$")
_NAME = re.compile(r"^[0-9a-f]+ <([^>+]+)(?:\+0x[0-9a-f]+)?>:$", re.MULTILINE)
_PREFIXES = frozenset(
    ["lock", "rep", "repz", "repnz", "notrack", "bnd", "data16", "cs", "ds", "es", "ss", "addr32"]
)
_COMMA = re.compile(r",(?![^(]*\))")


@lru_cache(maxsize=256)
def _function(file: File, start: int, end: int) -> _Function | None:
    part = [f"--start-address={start:#x}", f"--stop-address={end:#x}"]
    answer = output_of(["objdump", "-d", "--no-show-raw-insn", *part, file.path])
    found = [line for line in map(_LINE.match, answer.splitlines()) if line]
    name = _NAME.search(answer)
    if not found or name is None:
        return None
    addresses = [int(line[1], 16) for line in found]
    following = [*addresses[1:], 0]
    lines = {
        at: _line(line[2], then) for at, line, then in zip(addresses, found, following, strict=True)
    }
    return _Function(_whole(name[1]), lines)


def _line(text: str, then: int) -> _Line:
    words = text.partition("#")[0].split()
    while words and words[0] in _PREFIXES:
        del words[0]
    if not words:
        return _Line("", (), then)
    rest = " ".join(words[1:])
    if words[0].startswith(("j", "call", "loop")):
        return _Line(words[0], (rest,), then)
    return _Line(words[0], tuple(_COMMA.split(rest)) if rest else (), then)


def _whole(name: str) -> str:
    """Of a function that is in two parts, the likely and the unlikely one."""
    return name.removesuffix(".cold")


# --- the way through it

_TARGET = re.compile(r"([0-9a-f]+)(?: <([^>+]+)(?:\+0x[0-9a-f]+)?>)?$")
_LEAVES = frozenset({"ret", "retq", "ud2", "hlt", "iretq"})


def _is_read(function: _Function, begins: Sequence[int], what: Bytes) -> bool:
    """Where an exception leads to, the stack pointer is where it was."""
    todo, seen = [(code, 0) for code in begins], set()
    while todo:
        at, moved = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        line = function.lines.get(at)
        if line is None:
            return True
        effect = _effect(line, what, moved)
        if effect is _READ:
            return True
        if effect is _WRITTEN or line.word in _LEAVES:
            continue
        then = _stack_moved(line, what, moved)
        ways = _ways(function, line)
        if then is None or ways is None:
            return True
        todo += [(way, then) for way in ways]
    return False


def _ways(function: _Function, line: _Line) -> list[int] | None:
    """Where it goes on; nowhere when it leaves the function. None: that is not known."""
    if not line.word.startswith(("j", "loop")):
        return [line.next]
    target = _TARGET.fullmatch(line.operands[0])
    if target is None:
        return None
    ways = [] if line.word.startswith("jmp") else [line.next]
    if int(target[1], 16) in function.lines:
        return [*ways, int(target[1], 16)]
    is_other = target[2] and not target[2].startswith(".") and _whole(target[2]) != function.name
    return ways if is_other else None


_AMOUNT = re.compile(r"\$(-?0x[0-9a-f]+)$")


def _stack_moved(line: _Line, what: Bytes, moved: int) -> int | None:
    """How far the stack pointer is from where it was; None: that is not known, and it matters."""
    if line.word in _MOVES:
        return moved + _MOVES[line.word]
    if what.register is not None:
        return moved
    if line.word == "leave":
        return None if what.frame is None else what.frame + 8
    sets = bool(line.operands) and line.operands[-1] == "%rsp"
    return _stack_set(line, what, moved) if sets else moved


_MOVES = {"push": -8, "pushq": -8, "pop": 8, "popq": 8}


def _stack_set(line: _Line, what: Bytes, moved: int) -> int | None:
    amount = _AMOUNT.match(line.operands[0])
    if amount and line.word[:3] in ("add", "sub"):
        return moved + int(amount[1], 16) * (1 if line.word[:3] == "add" else -1)
    memory = _MEMORY.fullmatch(line.operands[0])
    if line.word.startswith("lea") and memory and not memory["index"]:
        return _place(memory, what, moved)
    return None


# --- one instruction


class _Effect:
    """Of an instruction on the bytes."""


_NOTHING, _READ, _WRITTEN = _Effect(), _Effect(), _Effect()

_MEMORY = re.compile(
    r"\*?(?P<segment>%[cdefgs]s:)?(?P<offset>-?0x[0-9a-f]+)?"
    r"\((?P<base>%\w+)?(?:,(?P<index>%\w+)(?:,\d)?)?\)"
)
# The last operand is written and not read.
_WRITES = re.compile(r"v?mov|v?cvt|lea|set|popcnt|tzcnt|lzcnt|v?pextr|pop")
_COMPARES = re.compile(r"cmp|test|bt[lqw]?$|v?u?comis|v?ptest")


def _effect(line: _Line, what: Bytes, moved: int) -> _Effect:
    touched = [_touched(line, number, what, moved) for number in range(len(line.operands))]
    if _clears(line):
        return touched[-1][1]
    for reads, _ in touched:
        if reads is _READ:
            return _READ
    return next((writes for _, writes in touched if writes is _WRITTEN), _NOTHING)


def _clears(line: _Line) -> bool:
    same = len(line.operands) == 2 and line.operands[0] == line.operands[1]
    return same and line.word.startswith(("xor", "sub")) and line.operands[0].startswith("%")


def _touched(line: _Line, number: int, what: Bytes, moved: int) -> tuple[_Effect, _Effect]:
    """What an operand does: whether it reads some of the bytes, and whether it writes them all."""
    operand = line.operands[number]
    last = number == len(line.operands) - 1
    writes = last and _writes_only(line)
    memory = _MEMORY.fullmatch(operand)
    if what.register is not None:
        if any(f"%{name}" in _names(operand) for name in KEPT[what.register]) and (
            memory or not operand.startswith("%")
        ):
            return _READ, _NOTHING  # where something lies, or where it goes on
        return _of_register(operand, what, writes=writes or _clears(line))
    if memory is None or line.word.startswith(("lea", "nop")):
        return _NOTHING, _NOTHING
    return _of_memory(line, memory, what, moved, writes=writes)


def _names(operand: str) -> list[str]:
    return re.findall(r"%\w+", operand)


def _writes_only(line: _Line) -> bool:
    if _COMPARES.match(line.word) or not _WRITES.match(line.word):
        return False
    return len(line.operands) > 1 or line.word.startswith(("pop", "set"))


def _of_register(operand: str, what: Bytes, *, writes: bool) -> tuple[_Effect, _Effect]:
    names = KEPT[what.register or RBX]
    name = operand.removeprefix("%")
    if name == "bh" and what.register == RBX:
        return (_NOTHING if writes else _READ), _NOTHING
    if name not in names:
        return _NOTHING, _NOTHING
    size = 8 >> names.index(name)
    if not writes:
        return (_READ if what.low < size else _NOTHING), _NOTHING
    written = 8 if size >= 4 else size  # to write the low half clears the other
    return _NOTHING, (_WRITTEN if what.high <= written else _NOTHING)


def _of_memory(
    line: _Line, memory: re.Match[str], what: Bytes, moved: int, *, writes: bool
) -> tuple[_Effect, _Effect]:
    place = None if memory["segment"] else _place(memory, what, moved)
    if place is None:
        return _NOTHING, _NOTHING
    if memory["index"]:  # an element of something that begins there
        return (_NOTHING if writes or place >= what.high else _READ), _NOTHING
    size = _size(line)
    if not writes:
        reads = place < what.high and what.low < place + (size or _ALL)
        return (_READ if reads else _NOTHING), _NOTHING
    covers = size is not None and place <= what.low and what.high <= place + size
    return _NOTHING, (_WRITTEN if covers else _NOTHING)


def _place(memory: re.Match[str], what: Bytes, moved: int) -> int | None:
    """On the stack; None: elsewhere, as far as can be seen."""
    offset = int(memory["offset"] or "0", 16)
    if memory["base"] == "%rsp":
        return moved + offset
    return what.frame + offset if memory["base"] == "%rbp" and what.frame is not None else None


_EXTENDED = re.compile(r"mov[sz]([bwl])[wlq]")
_SCALAR = re.compile(r"v?(?:mov|add|sub|mul|div|sqrt|u?comi)(s[sd])|v?mov([dq])")
_WHOLE = re.compile(r"v?(?:mov[au]p[sd]|movdq[au](?:8|16|32|64)?|lddqu)")
_SCALARS = {"ss": 4, "sd": 8, "d": 4, "q": 8}
_VECTORS = {"x": 16, "y": 32, "z": 64}
_SUFFIXES = {"b": 1, "w": 2, "l": 4, "q": 8}
_GENERAL = re.compile(r"[re]?(?:[abcd]x|[sd]i|bp|sp)|r\d+[dwb]?|[abcd][lh]|[sd]il|[sb]pl")
_OTHERS = re.compile(r"f|call|j|bt|crc|cmpxchg\d|cvt|vcvt|x?rstor|x?save")


def _size(line: _Line) -> int | None:
    """Of what the instruction touches in memory; None: that is not known."""
    word = line.word
    if extended := _EXTENDED.fullmatch(word):
        return _SUFFIXES[extended[1]]
    registers = [operand[1:] for operand in line.operands if operand.startswith("%")]
    vector = next((name for name in registers if name[1:3] == "mm"), "")
    if vector:
        return _size_of_vector(word, vector)
    if _OTHERS.match(word):
        return None
    if word in _MOVES:
        return 8
    if registers and registers != ["cl"] and _GENERAL.fullmatch(registers[-1]):
        return _size_of_register(registers[-1])
    return _SUFFIXES.get(word[-1])


def _size_of_vector(word: str, register: str) -> int | None:
    if scalar := _SCALAR.fullmatch(word):
        return _SCALARS[scalar[1] or scalar[2]]
    return _VECTORS.get(register[0]) if _WHOLE.fullmatch(word) else None


def _size_of_register(name: str) -> int:
    if name.endswith(("l", "h")) or (name.endswith("b") and name[0] == "r"):
        return 1
    if name.startswith("r"):
        return {"d": 4, "w": 2}.get(name[-1], 8) if name[1].isdigit() else 8
    return 4 if name.startswith("e") else 2
