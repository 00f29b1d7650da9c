# SPDX-License-Identifier: Apache-2.0
"""Races of small traces in names and sentences, one for each kind of proof."""

from dataclasses import replace

import pytest

from eitherway.findings.from_races import findings_of
from eitherway.findings.sentences import Side, explained
from eitherway.model.finding import Finding, FoundOperation, Source
from eitherway.model.place import Place
from eitherway.model.race import Race
from eitherway.model.trace import Trace, TraceBuilder
from eitherway.model.words import Kind, OpFlag, OpKind, World


def place(function: str, line: int) -> Place:
    return Place(function, "bank.c", line)


class Bank:
    """A main thread that starts a teller and an auditor."""

    def __init__(self, world: World = World.THREADS) -> None:
        self.builder = TraceBuilder(world)
        self.main = self.builder.actor()
        start = self.builder.operation(
            self.main, OpKind.START, stack=self.builder.stack([place("main", 40)])
        )
        self.teller = self.builder.actor("teller", parent=self.main, started_by=start, native_id=71)
        self.auditor = self.builder.actor("", parent=self.main, started_by=start)
        self.balance = self.builder.range(self.builder.object("global", "balance"), 0, 4)
        self.locks = {
            name: self.builder.range(self.builder.object("mutex", name))
            for name in ("till", "book")
        }
        self.unnamed = self.builder.range(self.builder.object("mutex"))
        self.door = self.builder.range(self.builder.object("condition", "door"))

    def does(self, actor: int, kind: OpKind, on: int, function: str = "", line: int = 1,
             flags: OpFlag = OpFlag.NONE, value: int | None = None) -> int:  # fmt: skip
        stack = self.builder.stack([place(function, line), place("run", 90)]) if function else 0
        return self.builder.operation(actor, kind, on, stack=stack, flags=flags, value=value)

    def finding(self, kind: Kind, *operations: int, pattern: str = "") -> Finding:
        return found(self.builder.build(), Race(kind, operations, pattern))


def found(trace: Trace, race: Race) -> Finding:
    (finding,) = findings_of(trace, [race], source=Source("eitherway", "r1"), evidence="r1")
    return finding


def test_a_data_race() -> None:
    bank = Bank()
    bank.does(bank.teller, OpKind.ACQUIRE, bank.locks["till"])
    write = bank.does(bank.teller, OpKind.STORE, bank.balance, "deposit", 12, value=120)
    bank.does(bank.teller, OpKind.RELEASE, bank.locks["till"])
    read = bank.does(bank.auditor, OpKind.LOAD, bank.balance, "audit", 17, OpFlag.ATOMIC)
    finding = bank.finding(Kind.DATA_RACE, write, read)
    one, other = finding.operations
    assert finding.id.startswith("EW-")
    assert (one.actor, one.op, one.object, one.variable, one.value) == (
        "thread T1 'teller'", "write of size 4", "global", "balance", "120",
    )  # fmt: skip
    assert (other.actor, other.op) == ("thread T2", "atomic read of size 4")
    assert [frame.function for frame in one.stack] == ["deposit", "run"]
    assert [(frame.function, frame.line) for frame in one.created] == [("main", 40)]
    assert (one.locks, other.locks) == (("mutex 'till'",), ())
    assert finding.sources == (Source("eitherway", "r1"),)
    assert finding.explanation == (
        "Let A be the write of size 4 to global 'balance' by thread T1 'teller' in deposit "
        "(bank.c:12).",
        "Let B be the atomic read of size 4 of global 'balance' by thread T2 in audit (bank.c:17).",
        "Then the outcome can depend on which comes first, because both touch the same global and "
        "A writes.",
        "Suppose the program decides this. Then a chain of locks, starts, joins and wake-ups leads "
        "from A to B or from B to A, because nothing else orders two actors.",
        "However, no such chain exists in this run (A holds mutex 'till', B holds no lock): a "
        "contradiction.",
        "So the program does not decide it: A came first here, and B can come first.",
    )


def test_two_writes_and_nothing_known_of_their_places() -> None:
    bank = Bank()
    a = bank.does(bank.main, OpKind.STORE, 0)
    b = bank.does(bank.teller, OpKind.UPDATE, 0)
    finding = bank.finding(Kind.DATA_RACE, a, b)
    assert finding.explanation[:3] == (
        "Let A be the write by main thread.",
        "Let B be the update by thread T1 'teller'.",
        "Then the outcome can depend on which comes first, because both touch the same object and "
        "both of them write.",
    )


def test_a_load_store_race_of_processes() -> None:
    bank = Bank(World.PROCESSES)
    file = bank.builder.range(bank.builder.object("file", "out.h"))
    a = bank.does(bank.teller, OpKind.STORE, file, "openat")
    b = bank.does(bank.auditor, OpKind.LOAD, file, "openat")
    finding = bank.finding(Kind.LOAD_STORE, a, b)
    assert [(op.actor, op.op) for op in finding.operations] == [
        ("process 'teller' (pid 71)", "openat"),
        ("process", "openat"),
    ]
    assert "to file 'out.h' by process 'teller' (pid 71) in openat" in finding.explanation[0]


@pytest.mark.parametrize(
    ("kinds", "pattern", "ending"),
    [
        ("LSL", "RWR", "So B can come between A and C: then A and C read different values (RWR)."),
        ("SSL", "WWR", "then C reads what B wrote, not what A wrote (WWR)."),
        (
            "LSS",
            "RWW",
            "then C writes what it made of an old value, and what B wrote is lost (RWW).",
        ),
        ("SLS", "WRW", "then B reads a value that C was about to replace (WRW)."),
        ("SSS", "", "what A and C do together is then not one step."),
    ],
)
def test_an_atomicity_violation(kinds: str, pattern: str, ending: str) -> None:
    bank = Bank()
    kind = {"L": OpKind.LOAD, "S": OpKind.STORE}
    actors = (bank.teller, bank.auditor, bank.teller)
    operations = [
        bank.does(actor, kind[letter], bank.balance, "f")
        for actor, letter in zip(actors, kinds, strict=True)
    ]
    finding = bank.finding(Kind.ATOMICITY, *operations, pattern=pattern)
    assert "Suppose A and C" in finding.explanation[3]
    assert finding.explanation[-1].endswith(ending)


def test_the_remote_operation_need_not_be_seen_in_the_middle() -> None:
    bank = Bank()
    operations = [
        bank.does(actor, kind, bank.balance, "f")
        for actor, kind in [
            (bank.teller, OpKind.LOAD),
            (bank.teller, OpKind.LOAD),
            (bank.auditor, OpKind.STORE),
        ]
    ]
    finding = bank.finding(Kind.ATOMICITY, *operations, pattern="RWR")
    assert finding.explanation[-1] == (
        "So C can come between A and B: then A and B read different values (RWR)."
    )


def test_a_deadlock_names_its_ring() -> None:
    bank = Bank()
    till, book = bank.locks["till"], bank.locks["book"]
    a = bank.does(bank.teller, OpKind.ACQUIRE, till, "open", 1)
    b = bank.does(bank.teller, OpKind.ACQUIRE, book, "note", 2)
    bank.does(bank.teller, OpKind.RELEASE, book)
    bank.does(bank.teller, OpKind.RELEASE, till)
    c = bank.does(bank.auditor, OpKind.ACQUIRE, book, "look", 3)
    d = bank.does(bank.auditor, OpKind.ACQUIRE, till, "count", 4, OpFlag.SHARED)
    finding = bank.finding(Kind.DEADLOCK, a, b, c, d, pattern="ring of 2")
    assert [op.locks for op in finding.operations] == [
        (), ("mutex 'till'",), (), ("mutex 'book'",),
    ]  # fmt: skip
    assert [op.op for op in finding.operations] == ["lock", "lock", "lock", "read lock"]
    assert finding.explanation[4:] == (
        "Then thread T1 'teller' waits at B for thread T2, because that one has 'book' since C.",
        "Then thread T2 waits at D for thread T1 'teller', because that one has 'till' since A.",
        "Suppose that all have come as far as B, D and one of them goes on. Then the lock it wants "
        "was given back by its holder, who went on before it.",
        "However, that holder waits in the same ring, and so do all the others: a contradiction.",
        "So none of thread T1 'teller', thread T2 ever goes on from there.",
    )


def test_a_ring_of_any_size_is_proved_whole() -> None:
    sides = [
        Side(FoundOperation(f"thread T{n // 2}", "lock"), OpKind.ACQUIRE, OpFlag.NONE, n // 2)
        for n in range(60)
    ]
    sentences = explained(Kind.DEADLOCK, "ring of 30", sides)
    assert [s.split()[1] for s in sentences if s.startswith("Let ")][-35:-33] == ["Z", "AA"]
    steps = [s for s in sentences if s.startswith("Then thread ")]
    assert len(steps) == 30
    assert steps[-1].startswith("Then thread T29 waits at BH for thread T0, because ")


def test_a_thread_that_waits_for_itself() -> None:
    bank = Bank()
    a = bank.does(bank.teller, OpKind.ACQUIRE, bank.unnamed)
    b = bank.does(bank.teller, OpKind.ACQUIRE, bank.unnamed, flags=OpFlag.BLOCKED)
    finding = bank.finding(Kind.DEADLOCK, a, b, pattern="self")
    assert finding.operations[1].locks[0].startswith("mutex M")
    assert finding.explanation[-1] == "So thread T1 'teller' never goes on from B."


def test_a_wait_that_several_wakeups_can_end() -> None:
    bank = Bank()
    wait = bank.does(bank.main, OpKind.WAIT, bank.door, "wait", flags=OpFlag.WILDCARD)
    one = bank.does(bank.teller, OpKind.WAKE, bank.door, "ring", flags=OpFlag.CUMULATIVE)
    other = bank.does(bank.auditor, OpKind.WAKE, bank.door, "ring")
    finding = bank.finding(Kind.WAIT_WAKEUPS, wait, one, other)
    assert finding.explanation[0].startswith("Let A be the wait on condition 'door' by main thread")
    assert finding.explanation[3].startswith("Then A can be ended by B or C, because")
    assert finding.explanation[-2].endswith("a contradiction.")
    assert finding.explanation[-1].endswith("or the effect of several at once.")


def test_a_wakeup_that_can_end_several_waits() -> None:
    bank = Bank()
    one = bank.does(bank.teller, OpKind.WAIT, bank.door, "wait")
    other = bank.does(bank.auditor, OpKind.WAIT, bank.door, "wait")
    wake = bank.does(bank.main, OpKind.WAKE, bank.door, "ring")
    finding = bank.finding(Kind.WAKEUP_WAITS, one, other, wake)
    assert finding.explanation[3].startswith("Then C can end A or B, because")
    assert finding.explanation[-2].endswith("a contradiction.")


def test_a_lost_wakeup_that_can_happen() -> None:
    bank = Bank()
    begin = bank.does(bank.main, OpKind.RELEASE, bank.locks["till"], "wait")
    wake = bank.does(bank.teller, OpKind.WAKE, bank.door, "ring")
    wait = bank.does(bank.main, OpKind.WAIT, bank.door, "wait")
    finding = bank.finding(Kind.LOST_WAKEUP, begin, wake, wait, pattern="possible")
    assert finding.explanation[-1] == "So A can come first, and B can wait for ever."
    assert finding.id == bank.finding(Kind.LOST_WAKEUP, wake, wait, pattern="seen").id


def test_a_lost_wakeup_that_was_seen() -> None:
    bank = Bank()
    wake = bank.does(bank.teller, OpKind.WAKE, bank.door, "ring")
    wait = bank.does(bank.main, OpKind.WAIT, bank.door, "wait", flags=OpFlag.BLOCKED)
    finding = bank.finding(Kind.LOST_WAKEUP, wake, wait, pattern="seen")
    assert finding.explanation[-2].endswith("B never returned: a contradiction.")
    assert finding.explanation[-1] == "So A was lost, and B waits for ever."


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_can_be_told_whatever_its_operations(kind: Kind) -> None:
    bank = Bank()
    operation = bank.does(bank.teller, OpKind.OTHER, 0, "f")
    assert bank.finding(kind, operation).explanation == (
        "Let A be the call by thread T1 'teller' in f (bank.c:1).",
    )
    assert bank.finding(kind).explanation == ()


def test_the_ids_of_two_runs_are_the_same() -> None:
    def run(*, late: bool) -> Finding:
        bank = Bank()
        for _ in range(5 if late else 0):
            bank.does(bank.main, OpKind.OTHER, 0)
        pair = [(bank.teller, "deposit"), (bank.auditor, "audit")]
        a, b = (
            bank.does(actor, OpKind.STORE, bank.balance, function, 3 if late else 9)
            for actor, function in (pair[::-1] if late else pair)
        )
        return bank.finding(Kind.DATA_RACE, a, b)

    one, other = run(late=False), run(late=True)
    assert one.id == other.id
    assert replace(one, operations=()) != replace(other, operations=())
