# SPDX-License-Identifier: Apache-2.0
"""Each policy does what its theory promises; the seeds are fixed, and so are the results."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations, pairwise

import numpy as np
import pytest

from eitherway.worlds.threads.guide import UNGUIDED, Guidance
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.server import Server

Program = Callable[[str], str]

# Chi-square values that chance exceeds once in a thousand times, by degrees of freedom.
CRITICAL = {
    1: 10.83,
    2: 13.82,
    3: 16.27,
    4: 18.47,
    5: 20.52,
    6: 22.46,
    9: 27.88,
    11: 31.26,
    14: 36.12,
}


def hash_of(text: str) -> int:
    """As the rows of a survey have it."""
    return zlib.crc32(text.encode())


def outcomes(
    server: Server,
    texts: Iterable[str],
    seeds: range,
    scheduler: str,
    guidance: Guidance = UNGUIDED,
) -> Counter[str]:
    """How often each of the texts was what a run wrote; there are no others."""
    known = {hash_of(text): text for text in texts}
    rows = server.survey(seeds, scheduler, guidance=guidance).rows
    assert not rows["status"].any()
    return Counter(known[int(value)] for value in rows["out_hash"])


def chi_square(seen: Mapping[str, int], expected: Mapping[str, float]) -> float:
    """Of counts against expected shares."""
    total = sum(seen.values())
    return sum(
        (seen.get(text, 0) - share * total) ** 2 / (share * total)
        for text, share in expected.items()
    )


@contextmanager
def served(program: str, *arguments: str) -> Iterator[Server]:
    with Server(Launch.here([program, *arguments]), threads=3) as server:
        yield server


def orders(first: int, second: int) -> list[str]:
    """What `small_spaces atomics` and `apart` can print."""
    size = first + second
    return [
        "".join("a" if at in chosen else "b" for at in range(size)) + "0\n"
        for chosen in combinations(range(size), first)
    ]


# --- pct: a failure of depth d shows with a chance of at least 1/(n * k^(d-1))


@pytest.mark.parametrize(("depth", "seeds"), [(1, 300), (2, 1000), (3, 3000)])
def test_pct_finds_a_failure_as_often_as_it_promises(
    program: Program, depth: int, seeds: int
) -> None:
    with served(program("depths"), str(depth)) as server:
        length = max(server.run(seed=seed).shown.asked for seed in range(20))
        guidance = Guidance(tuning={"depth": depth, "length": length})
        seen = outcomes(server, ["", "fails\n"], range(seeds), "pct", guidance)
    threads = 4
    assert seen["fails\n"] / seeds >= 1 / (threads * length ** (depth - 1))


def test_pct_of_depth_1_changes_no_priority(program: Program) -> None:
    """Without a change, threads run one after the other: the deeper failures cannot show."""
    with served(program("depths"), "2") as server:
        guidance = Guidance(tuning={"depth": 1, "length": 20})
        assert set(outcomes(server, ["", "fails\n"], range(200), "pct", guidance)) == {""}


# --- surw: all orders of the interesting operations are as likely


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 2), (1, 3), (2, 3)])
def test_surw_is_uniform_over_the_orders(program: Program, first: int, second: int) -> None:
    texts = orders(first, second)
    share = dict.fromkeys(texts, 1 / len(texts))
    with served(program("small_spaces"), "atomics", str(first), str(second)) as server:
        threads = server.run().shown.threads
        guidance = Guidance(expected=threads, tuning={"interesting": 2})
        seen = outcomes(server, texts, range(2000), "surw", guidance)
    assert chi_square(seen, share) < CRITICAL[len(texts) - 1]


def test_a_random_walk_is_not_uniform(program: Program) -> None:
    """So that the test above can tell one from the other."""
    texts = orders(2, 2)
    with served(program("small_spaces"), "atomics", "2", "2") as server:
        seen = outcomes(server, texts, range(2000), "random-walk")
    assert chi_square(seen, dict.fromkeys(texts, 1 / len(texts))) > CRITICAL[5]


def test_surw_without_expectations_is_a_random_walk_that_ends(program: Program) -> None:
    texts = orders(2, 2)
    with served(program("small_spaces"), "atomics", "2", "2") as server:
        assert set(outcomes(server, texts, range(500), "surw")) == set(texts)


# --- pos: as a model of it, written for this test, has it


class Pos:
    """Partial order sampling of two threads whose events are known beforehand."""

    def __init__(self, state: np.random.Generator) -> None:
        self._random = state

    def order(self, first: list[str], second: list[str]) -> str:
        """The events that are named, as they come; equal names conflict but for the empty one."""
        events = [first[:], second[:]]
        priorities = [self._random.random(), self._random.random()]
        told = ""
        while all(events):
            turn = 0 if priorities[0] > priorities[1] else 1
            event = events[turn].pop(0)
            told += "ab"[turn] if event else ""
            priorities[turn] = self._random.random()
            if event and events[1 - turn] and events[1 - turn][0] == event:
                priorities[1 - turn] = self._random.random()
        return told + "".join("ab"[turn] for turn in (0, 1) for event in events[turn] if event)


def shares(objects: tuple[str, str], first: int, second: int) -> dict[str, float]:
    """Main creates, works and joins; the other begins and works."""
    model, runs = Pos(np.random.default_rng(1)), 100_000
    mine, theirs = ["", *[objects[0]] * first, ""], ["", *[objects[1]] * second]
    seen = Counter(model.order(mine, theirs) for _ in range(runs))
    return {f"{text}0\n": count / runs for text, count in seen.items()}


@pytest.mark.parametrize(("name", "objects"), [("atomics", ("x", "x")), ("apart", ("x", "y"))])
@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 2), (1, 3)])
def test_pos_samples_as_its_model_does(
    program: Program, name: str, objects: tuple[str, str], first: int, second: int
) -> None:
    texts, expected = orders(first, second), shares(objects, first, second)
    with served(program("small_spaces"), name, str(first), str(second)) as server:
        seen = outcomes(server, texts, range(3000), "pos")
    assert chi_square(seen, expected) < CRITICAL[len(texts) - 1]


def held_back(server: Server, count: int, scheduler: str) -> float:
    """How often the second thread's only operation comes behind all of the first one's."""
    texts = orders(count, 1)
    runs = 2000
    return outcomes(server, texts, range(runs), scheduler)["a" * count + "b0\n"] / runs


def test_pos_holds_an_operation_back_behind_many_others(program: Program) -> None:
    """Alone the beginning of its thread is, by 1 in 10: there is a point before each of eight."""
    with served(program("small_spaces"), "apart", "8", "1") as server:
        assert held_back(server, 8, "pos") >= 1 / 10


# --- the random walk: some schedules are restless, others let a thread come far


def test_a_walk_holds_an_operation_back_by_calm_schedules(program: Program) -> None:
    """If each point were a draw of two, nine of ten would have to fall alike."""
    with served(program("small_spaces"), "atomics", "8", "1") as server:
        assert held_back(server, 8, "random-walk") > 2 * 10 * 2**-9


def switches(text: str) -> int:
    return sum(one != other for one, other in pairwise(text))


def test_a_walk_is_restless_in_a_quarter_of_its_schedules(program: Program) -> None:
    """Where each point is a draw of two, 7 of 16 orders change hands four times or more."""
    texts, runs = orders(4, 4), 2000
    with served(program("small_spaces"), "atomics", "4", "4") as server:
        seen = outcomes(server, texts, range(runs), "random-walk")
    share = sum(count for text, count in seen.items() if switches(text[:8]) >= 4) / runs
    expected = 7 / 16 / 4
    assert share > expected - 3 * (expected / runs) ** 0.5


def test_what_conflicts_makes_a_difference_to_pos() -> None:
    """So that the test above can tell one from the other."""
    together, apart = shares(("x", "x"), 1, 3), shares(("x", "y"), 1, 3)
    counts = {text: round(share * 3000) for text, share in apart.items()}
    assert chi_square(counts, together) > CRITICAL[3]
