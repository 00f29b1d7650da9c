# SPDX-License-Identifier: Apache-2.0
"""The proof of a race in sentences: let, then, suppose, however, a contradiction.

Each supposes that the program decides the order, follows what this would mean for the run that was
seen, and ends where the run says otherwise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product

from eitherway.model.finding import FoundOperation, Frame
from eitherway.model.identity import own_frame
from eitherway.model.race import (
    BY_MEMORY,
    BY_THREADS,
    INTERRUPTED,
    OVERLAPPING,
    SECTIONS,
    TRIED,
    UNORDERED,
)
from eitherway.model.shortened import shortened
from eitherway.model.words import STORES, Kind, OpFlag, OpKind

Sentences = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """An operation in words, with what a proof needs to know of its numbers."""

    found: FoundOperation
    kind: OpKind
    flags: OpFlag
    actor: int


def explained(kind: Kind, pattern: str, sides: Sequence[Side]) -> Sentences:
    """The sentences for a race of this kind; for kinds without a proof, what was seen."""
    named = dict(zip(_letters(), sides, strict=False))
    proof = _PROOFS.get(kind)
    ending = proof(named, pattern) if proof else ()
    return (*(_let(letter, side) for letter, side in named.items()), *ending)


def _letters() -> Iterator[str]:
    """A to Z, then AA, AB and so on: a ring of locks may have any number of operations."""
    for length in count(1):
        yield from map("".join, product("ABCDEFGHIJKLMNOPQRSTUVWXYZ", repeat=length))


def _let(letter: str, side: Side) -> str:
    found = side.found
    made = f" allocated{_where(own_frame(found.allocated))}" if found.allocated else ""
    part = f"{found.part} of " if found.part else ""
    touched = f" {_PREPOSITIONS.get(side.kind, 'of')} {part}{found.touched}{made}"
    return (
        f"Let {letter} be the {found.op}"
        f"{touched if found.touched else ''} by {found.actor}{_where(own_frame(found.stack))}."
    )


_PREPOSITIONS = {OpKind.STORE: "to", OpKind.WAIT: "on", OpKind.WAKE: "on"}


def _where(place: Frame) -> str:
    at = f"{place.file}:{place.line}" if place.line else place.file
    if not at and place.module:
        at = f"{place.module}+{place.offset:#x}" if place.offset else place.module
    if place.function:
        function = shortened(place.function)
        return f" in {function} ({at})" if at else f" in {function}"
    return f" at {at}" if at else ""


UNDECIDED = "So the program does not decide it"


def _pair(named: dict[str, Side], pattern: str) -> Sentences:
    if len(named) != 2:
        return ()
    if pattern == TRIED:
        return _tried(named)
    a, b = named
    storing = [letter for letter, side in named.items() if side.kind in STORES]
    writes = "both of them write" if len(storing) == len(named) else f"{storing[0]} writes"
    return (
        f"Then the outcome can depend on which comes first, because both touch the same "
        f"{named[a].found.object or 'object'} and {writes}.",
        f"Suppose the program decides this. Then a chain of locks, starts, joins and wake-ups "
        f"leads from {a} to {b} or from {b} to {a}, because nothing else orders two actors.",
        _no_chain(named, pattern),
        f"{UNDECIDED}: {_came(pattern, a, b)}",
    )


def _no_chain(named: dict[str, Side], pattern: str) -> str:
    a, b = named
    if pattern == BY_THREADS:
        return (
            "However, the only chain of this run leads through threads of one process, and in a "
            f"run in which {b} comes first none does: a contradiction."
        )
    return (
        f"However, no such chain exists in this run ({a} {_holding(named[a])}, "
        f"{b} {_holding(named[b])}): a contradiction."
    )


def _tried(named: dict[str, Side]) -> Sentences:
    first, second = named
    tries = first if named[first].flags & OpFlag.TRY else second
    gives = second if tries == first else first
    here = "gave up here" if named[tries].flags & OpFlag.FAILED else "worked here"
    return (
        f"Then {tries} works or fails by which comes first, because it does not wait: it gives up "
        f"where it finds taken what {gives} gives back.",
        f"Suppose the program decides this. Then a chain of starts, joins and wake-ups leads from "
        f"{first} to {second}, because a lock alone says only that they do not overlap.",
        "However, no such chain exists in this run: a contradiction.",
        f"{UNDECIDED}: {tries} {here}, and can come on the other side of {gives}.",
    )


def _came(pattern: str, a: str, b: str) -> str:
    if pattern == OVERLAPPING:
        return f"{a} and {b} were under way at the same time here, and either can come first."
    return f"{a} came first here, and {b} can come first."


def _holding(side: Side) -> str:
    return "holds " + (", ".join(side.found.locks) or "no lock")


def _interrupted(named: dict[str, Side]) -> Sentences:
    w, k, v = named
    return (
        f"Then {w} is over when {v} comes, or when the signal that {k} sends does.",
        f"Suppose the program decides which. Then {k} happens before {v}, or {v} before {k}.",
        "However, no chain of starts, ends and data leads from one to the other: a contradiction.",
        f"So the signal, which interrupted {w} here, can come when {v} has ended it.",
    )


def _wait_wakeups(named: dict[str, Side], pattern: str) -> Sentences:
    if pattern == INTERRUPTED:
        return _interrupted(named)
    waits, wakes = _split(named, OpKind.WAIT), _split(named, OpKind.WAKE)
    if not waits or len(wakes) <= 1:
        return ()
    w, ways = waits[0], _either(wakes)
    both = any(named[wake].flags & OpFlag.CUMULATIVE for wake in wakes)
    return (
        f"Then {w} can be ended by {ways}, because each of them wakes what {w} waits on.",
        f"Suppose the program decides which. Then {w} is over before all of them but one, or the "
        f"others happen only after it.",
        f"However, {w} happens before none of {_all(wakes)} in this run: a contradiction.",
        f"So {w} can find another one than it found here"
        + (", or the effect of several at once." if both else "."),
    )


def _wakeup_waits(named: dict[str, Side], pattern: str) -> Sentences:
    waits, wakes = _split(named, OpKind.WAIT), _split(named, OpKind.WAKE)
    if not wakes or len(waits) <= 1:
        return ()
    s = wakes[0]
    return (
        f"Then {s} can end {_either(waits)}, because each of them waits on what {s} wakes.",
        f"Suppose the program decides which. Then all but one of {_all(waits)} happen before {s}, "
        f"or begin only after it was used up.",
        _none_before(_all(waits), s, pattern),
        f"So {s} can end another one than it ended here, and that one then goes on waiting.",
    )


def _none_before(waits: str, wake: str, pattern: str) -> str:
    if pattern == BY_MEMORY:
        return (
            f"However, none of {waits} happens before {wake} in this run, and only memory that "
            "they share, or threads of one process, made one of them come last: a contradiction."
        )
    return f"However, none of {waits} happens before {wake} in this run: a contradiction."


def _sections(named: dict[str, Side]) -> Sentences:
    a, b, c = named
    return (
        f"Suppose that what {c} stores comes of what {a} read. Then {b} comes before {a} or after "
        f"{c} in every run.",
        f"However, nothing keeps {b} out: the lock that all three are made under is given back "
        f"between {a} and {c}, and no chain of starts, joins and wake-ups leads from {c} to {b} or "
        f"from {b} to {a}: a contradiction.",
        f"So {b} can come between {a} and {c}: {_BETWEEN['RWW']}".format(a=a, b=b, c=c),
    )


def _atomicity(named: dict[str, Side], pattern: str) -> Sentences:
    if pattern == SECTIONS:
        return _sections(named)
    actors = [side.actor for side in named.values()]
    local = [letter for letter, side in named.items() if actors.count(side.actor) > 1]
    remote = [letter for letter in named if letter not in local]
    if len(local) != 2 or len(remote) != 1:
        return ()
    (a, c), (b,) = local, remote
    return (
        f"Suppose {a} and {c}, one after the other by the same actor, belong together. "
        f"Then {b} comes before {a} or after {c} in every run.",
        f"However, nothing keeps {b} out: {a} {_holding(named[a])}, {c} {_holding(named[c])}, "
        f"{b} {_holding(named[b])}, and no chain of starts, joins and wake-ups leads from {c} to "
        f"{b} or from {b} to {a}: a contradiction.",
        f"So {b} can come between {a} and {c}: {_BETWEEN.get(pattern, _ANY)}".format(a=a, b=b, c=c),
    )


def _toctou(named: dict[str, Side], _: str) -> Sentences:
    if len(named) != 3:
        return ()
    a, b, c = named
    return (
        f"Suppose what {a} saw still holds at {c}. Then {b}, which changes it, comes before {a} or "
        f"after {c} in every run.",
        f"However, nothing keeps {b} out: no chain of locks, starts, ends and data leads from {c} "
        f"to {b} or from {b} to {a}: a contradiction.",
        f"So {b} can come between: {c} then uses something else than {a} saw.",
    )


_ANY = "what {a} and {c} do together is then not one step."
_BETWEEN = {
    "RWR": "then {a} and {c} read different values (RWR).",
    "WWR": "then {c} reads what {b} wrote, not what {a} wrote (WWR).",
    "RWW": "then {c} writes what it made of an old value, and what {b} wrote is lost (RWW).",
    "WRW": "then {b} reads a value that {c} was about to replace (WRW).",
}


def _deadlock(named: dict[str, Side], _: str) -> Sentences:
    """Operations come in pairs round the ring: the lock one has, and the lock it then wants."""
    letters, sides = list(named), list(named.values())
    taken, wanting = list(range(0, len(sides), 2)), list(range(1, len(sides), 2))
    if not wanting or any(sides[i].actor != sides[i - 1].actor for i in wanting):
        return ()
    if len(wanting) == 1:
        return _waits_for_itself(letters[0], letters[1], sides[1])
    steps = (
        f"Then {sides[i].found.actor} waits at {letters[i]} for {sides[h].found.actor}, because "
        f"that one has {_lock_name(sides[i])} since {letters[h]}."
        for i, h in zip(wanting, [*taken[1:], taken[0]], strict=True)
    )
    return (
        *steps,
        f"Suppose that all have come as far as {_all([letters[i] for i in wanting])} and one of "
        "them goes on. Then the lock it wants was given back by its holder, who went on before it.",
        "However, that holder waits in the same ring, and so do all the others: a contradiction.",
        f"So none of {', '.join(sides[i].found.actor for i in wanting)} ever goes on from there.",
    )


def _waits_for_itself(taken: str, wanting: str, side: Side) -> Sentences:
    return (
        f"Then {side.found.actor} waits at {wanting} for itself, because it has "
        f"{_lock_name(side)} since {taken}.",
        f"Suppose it goes on. Then it has given the lock back before {wanting} ends. However, it "
        f"does so only after {wanting}: a contradiction.",
        f"So {side.found.actor} never goes on from {wanting}.",
    )


def _lock_name(side: Side) -> str:
    return f"'{side.found.variable}'" if side.found.variable else "that lock"


def _lost_wakeup(named: dict[str, Side], pattern: str) -> Sentences:
    waits, wakes = _split(named, OpKind.WAIT), _split(named, OpKind.WAKE)
    if not waits or not wakes:
        return ()
    w, s = waits[0], wakes[0]
    needs = (
        f"Then {w} ends only by a wake-up that comes after {w} has begun, because one that comes "
        f"earlier finds nobody and is not kept."
    )
    if pattern == "seen":
        return (
            needs,
            f"Suppose the program makes {s} come later. However, {s} came first in this run, and "
            f"{w} never returned: a contradiction.",
            f"So {s} was lost, and {w} waits for ever.",
        )
    return (
        needs,
        f"Suppose the program sees to it. Then a chain of starts, joins and wake-ups leads from "
        f"the beginning of {w} to {s}, or a lock makes the waiter notice what {s} is about.",
        "However, neither exists in this run: a contradiction.",
        f"So {s} can come first, and {w} can wait for ever.",
    )


def _memory_error(named: dict[str, Side], pattern: str) -> Sentences:
    if not named or not pattern:
        return ()
    last = list(named)[-1]
    if pattern == "invalid-free":
        return (f"However, {last} gives back what does not begin where a block does.",)
    first = next(iter(named))
    twice = pattern.endswith("double-free")
    done = "gives it back a second time" if twice else "uses it all the same"
    seen = (
        f"Then the memory is the program's no more from {first} on.",
        f"However, {last} {done}: by then it may be another object's.",
    )
    if not pattern.startswith(UNORDERED):
        return seen
    return (*seen, f"Nothing orders the two: {first} came first here, and {last} can come first.")


_MISUSE = {
    "not-held": "However, {doer} does not have the lock at {last}, and nobody has.",
    "anothers": "However, {taker} has the lock since {first}: at {last} {doer} gives back what is "
    "not its own, and others come in.",
    "wait-not-held": "Then {last} is the begin of a wait, which gives the lock back. However, "
    "{doer} does not have it.",
    "relock": "However, {doer} has the lock since {first}: {last} fails.",
    "destroyed-held": "However, somebody has the lock at {last}.",
    "use-after-destroy": "However, since {first} there is no lock: {last} fails.",
    "two-mutexes": "Then {taker} and {doer} wait at the same time, each with another mutex. "
    "However, a condition belongs to one mutex while somebody waits: what a wake-up does then is "
    "not defined.",
}


def _lock_misuse(named: dict[str, Side], pattern: str) -> Sentences:
    """One sentence: what a lock is for says the rest."""
    if not named or pattern not in _MISUSE:
        return ()
    first, last = next(iter(named)), list(named)[-1]
    taker, doer = named[first].found.actor, named[last].found.actor
    return (_MISUSE[pattern].format(first=first, last=last, taker=taker, doer=doer),)


def _split(named: dict[str, Side], kind: OpKind) -> list[str]:
    return [letter for letter, side in named.items() if side.kind is kind]


def _either(letters: Sequence[str]) -> str:
    return " or ".join(letters)


def _all(letters: Sequence[str]) -> str:
    return ", ".join(letters)


_PROOFS: dict[Kind, Callable[[dict[str, Side], str], Sentences]] = {
    Kind.DATA_RACE: _pair,
    Kind.LOAD_STORE: _pair,
    Kind.WAIT_WAKEUPS: _wait_wakeups,
    Kind.WAKEUP_WAITS: _wakeup_waits,
    Kind.TOCTOU: _toctou,
    Kind.ATOMICITY: _atomicity,
    Kind.DEADLOCK: _deadlock,
    Kind.LOST_WAKEUP: _lost_wakeup,
    Kind.MEMORY_ERROR: _memory_error,
    Kind.LOCK_MISUSE: _lock_misuse,
}
