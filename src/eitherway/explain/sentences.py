# SPDX-License-Identifier: Apache-2.0
"""Why a run does what it does, in sentences."""

from collections.abc import Sequence
from itertools import takewhile

from eitherway.judge.sentences import side
from eitherway.model.finding import FoundOperation, Ordered
from eitherway.model.text import counted

_LINES = 12  # of output that are shown
_BEFORE = 3  # of them, before the first that differs
_WIDTH = 200  # of a line


def shortest(before: int, after: int, runs: int, *, whole: bool) -> str:
    """How much of the schedule is needed."""
    tried = f"{counted(runs, 'shorter run')} {'was' if runs == 1 else 'were'} tried"
    if after == before:
        every = "The one switch" if after == 1 else f"All {after:,} switches"
        return f"{every} between threads {'is' if after == 1 else 'are'} needed: {tried}."
    least = "no single turn of a thread can be left out" if whole else "there was no more time"
    return (
        f"Of {counted(before, 'switch')} between threads, {_enough(after)} enough for this: "
        f"{tried}, and {least}."
    )


def _enough(count: int) -> str:
    return f"{count:,} {'is' if count == 1 else 'are'}"


def order(first: FoundOperation, second: FoundOperation) -> str:
    """Who comes before whom: "the write of 3 to 'x' by thread T1 at a.c:4 comes before the ..."."""
    return f"the {_of(first)} comes before the {_of(second)}"


def _of(operation: FoundOperation) -> str:
    """With what it is done to, and the value."""
    value = f" ({operation.value})" if operation.value else ""
    word = "to" if operation.op.removeprefix("atomic ").startswith("write") else "of"
    touched = f" {word} {operation.touched}" if operation.touched else ""
    return f"{operation.op}{value}{touched}{side(operation).removeprefix(operation.op)}"


def decided(shown: int, tried: int, *, drawn: bool) -> str:
    """That the order of the two decides, and how that is known; `drawn`: the order that fails."""
    history = "" if drawn else " The history that is drawn is that of the order that goes well."
    role = "decides" if shown == tried else "matters"
    decides = (
        f"One pair of operations {role}: both of its orders were run, from the same moment on and "
        f"alike but for these two, and it is so in {shown} of {tried} ways to go on from there."
    )
    return f"{decides}{history}"


def of_race(failure: str) -> str:
    """That a race has its class from what it leads to in the run of another finding."""
    return f"It is the pair that decides whether {failure} happens: both orders were run there."


def of_orders(orders: Sequence[Ordered]) -> str:
    """What the program does with one order of two operations and with the other."""
    fails, other = orders
    return f"When {fails.order}, {fails.does}; the other way round {other.does}."


def undecided(pairs: int, *, whole: bool) -> str:
    """No pair was found; `whole`: all were tried."""
    if not pairs:
        return "No two operations of different threads met before it happened."
    tried = "met" if whole else "met and could be tried in the time that there was"
    return (
        f"Of {counted(pairs, 'pair')} of operations that {tried}, none decides alone: turned "
        "round, each leads there all the same or to something else that is bad, or cannot come so; "
        "or, gone on with in the same way, its recorded order does not lead there either."
    )


def unavoidable(runs: int) -> str:
    """Nothing else was seen than that it fails."""
    return (
        f"It goes wrong whatever the order: none of {counted(runs, 'other run')}, each with "
        "another schedule, ended well. So nothing says that a race is to blame: look for it in "
        "what the program does in every order."
    )


def differing(one: bytes, other: bytes) -> tuple[str, str]:
    """Of two outputs, the lines from a little before the first that differs."""
    mine, theirs = (
        one.decode(errors="replace").splitlines(),
        other.decode(errors="replace").splitlines(),
    )
    same = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(mine, theirs, strict=False)))
    start = max(0, same - _BEFORE)
    return _part(mine, start), _part(theirs, start)


def _part(lines: list[str], start: int) -> str:
    return "\n".join(line[:_WIDTH] for line in lines[start : start + _LINES])
