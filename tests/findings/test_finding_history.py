# SPDX-License-Identifier: Apache-2.0
"""What is cut out of a trace around a race, to be drawn."""

from eitherway.findings.from_races import findings_of
from eitherway.findings.history import MOST
from eitherway.findings.values import value_words
from eitherway.model.finding import Finding, Source
from eitherway.model.place import Place
from eitherway.model.race import Race
from eitherway.model.trace import TraceBuilder
from eitherway.model.words import EdgeKind, Kind, OpKind, World


class Bank:
    """Two tellers pay in; each counts under a lock, `busy` times before."""

    def __init__(self, busy: int = 1) -> None:
        self.builder = TraceBuilder(World.THREADS)
        self.balance = self.builder.range(self.builder.object("global", "balance"), 0, 8)
        self.other = self.builder.range(self.builder.object("global", "other"), 0, 8)
        self.lock = self.builder.range(self.builder.object("mutex", "counting"))
        self.main = self.builder.actor()
        self.last_release: int | None = None
        self.writes = [self._teller(number, busy) for number in (1, 2)]

    def _teller(self, number: int, busy: int) -> int:
        start = self.does(self.main, OpKind.START, 0, 40)
        teller = self.builder.actor(parent=self.main, started_by=start)
        self.builder.edge(start, self.does(teller, OpKind.BEGIN, 0, 10))
        for _ in range(busy):
            taken = self.does(teller, OpKind.ACQUIRE, self.lock, 11)
            if self.last_release is not None:
                self.builder.edge(self.last_release, taken, EdgeKind.CHANCE)
            self.does(teller, OpKind.STORE, self.other, 12)
            self.last_release = self.does(teller, OpKind.RELEASE, self.lock, 13)
        return self.does(teller, OpKind.STORE, self.balance, 20 + number, value=10 * number)

    def does(
        self, actor: int, kind: OpKind, on: int, line: int, *, value: int | None = None
    ) -> int:
        stack = self.builder.stack([Place("teller", "bank.c", line)])
        return self.builder.operation(actor, kind, on, stack=stack, value=value)

    def finding(self) -> Finding:
        race = Race(Kind.DATA_RACE, tuple(self.writes))
        (found,) = findings_of(self.builder.build(), [race], source=Source("test"))
        return found


def test_the_sides_their_births_and_what_came_before_are_there() -> None:
    history = Bank().finding().history
    assert history.actors == ("main thread", "thread T1", "thread T2")
    told = [(history.actors[m.actor], m.op, m.side) for m in history.moments]
    assert told == [
        ("main thread", "start", 0),
        ("thread T1", "begin", 0),
        ("thread T1", "lock", 0),
        ("thread T1", "unlock", 0),
        ("thread T1", "write of size 8", 1),
        ("main thread", "start", 0),
        ("thread T2", "begin", 0),
        ("thread T2", "lock", 0),
        ("thread T2", "unlock", 0),
        ("thread T2", "write of size 8", 2),
    ]
    first = history.moments[4]
    assert (first.touched, first.value, first.place.line) == ("global 'balance'", "10", 21)


def test_what_decides_an_order_is_told_with_its_kind() -> None:
    history = Bank().finding().history
    edges = [(e.before, e.after, e.chance) for e in history.edges]
    assert edges == [(0, 1, False), (5, 6, False), (3, 7, True)]


def test_steps_are_those_of_the_trace() -> None:
    steps = [moment.step for moment in Bank().finding().history.moments]
    assert steps == sorted(steps)
    assert 3 not in steps  # the write to another variable


def test_a_long_run_gives_a_short_history_with_both_sides() -> None:
    history = Bank(busy=500).finding().history
    assert len(history.moments) <= MOST
    assert [moment.side for moment in history.moments if moment.side] == [1, 2]


def test_of_one_finding_one_race_is_drawn() -> None:
    bank = Bank()
    race = Race(Kind.DATA_RACE, tuple(bank.writes))
    first, second = findings_of(bank.builder.build(), [race, race], source=Source("test"))
    assert first.id == second.id
    assert (bool(first.history.moments), bool(second.history.moments)) == (True, False)


def test_values_are_told_as_people_read_them() -> None:
    assert value_words(10, 8) == "10"
    assert value_words(2**32 - 1, 4) == "0xffffffff (-1)"
    assert value_words(2**32 - 1, 8) == "0xffffffff"
    assert value_words(0xDEAD, 16) == "hash 00000000000dead"
