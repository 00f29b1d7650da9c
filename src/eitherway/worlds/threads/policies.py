# SPDX-License-Identifier: Apache-2.0
"""Which policies there are, what they take, and how a search mixes them: all from one seed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag

from eitherway.errors import UsageError
from eitherway.worlds.threads.guide import Guidance, Shown
from eitherway.worlds.threads.places import Places


class Interesting(IntFlag):
    """Operations whose orders `surw` makes equally likely."""

    PLACE = 1  # plain accesses to memory that is known to be shared
    ATOMIC = 2
    SYNC = 4


DEPTH_FIRST = "depth-first"
BRANCH = "branch"  # of a recorded run: not for people
TURNS = "turns"  # with the input of a recorded run: neither
LEAVING = (BRANCH, TURNS)  # those that do not follow the run they are given to its end


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to decide who goes on; one C file of native/runtime/schedulers/."""

    name: str
    words: str
    takes: Mapping[str, range] = field(default_factory=dict)  # parameters that a person may give
    seeded: bool = True


_KINDS = range(1, int(Interesting.PLACE | Interesting.ATOMIC | Interesting.SYNC) + 1)
POLICIES = {
    policy.name: policy
    for policy in (
        Policy("random-walk", "all that may go on are as likely; each goes on for a while"),
        Policy("round-robin", "each thread in turn", seeded=False),
        Policy("pct", "random priorities that change at a few points", {"depth": range(1, 65)}),
        Policy("pos", "random priorities for each operation"),
        Policy("surw", "uniform over the orders of some operations", {"interesting": _KINDS}),
        Policy(
            DEPTH_FIRST, "all, one after the other, by preemptions", {"bound": range(65)}, False
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Turn:
    """Schedules of one policy with neighbouring seeds."""

    policy: str
    seeds: range
    tuning: Mapping[str, int] = field(default_factory=dict)

    def guidance(self, places: Places, measured: Shown) -> Guidance:
        """What its runs are told, given what an earlier run showed."""
        tuning = dict(self.tuning)
        if self.policy == "pct":
            tuning["length"] = max(measured.asked, 1)
        if self.policy == "surw" and not _has(measured, tuning.get("interesting", 0)):
            tuning.pop("interesting", None)  # then all count
        return Guidance(places, expected=measured.threads, tuning=tuning)


def _has(measured: Shown, interesting: int) -> bool:
    """Whether an earlier run did such operations in more than one thread."""
    if measured.threads is None:
        return False
    busy = [
        any(row[str(kind.name).lower()] for kind in Interesting if interesting & kind)
        for row in measured.threads
    ]
    return sum(busy) > 1


MIX = (
    Turn("random-walk", range(0)),
    Turn("pct", range(0), {"depth": 2}),
    Turn("pos", range(0)),
    Turn("surw", range(0), {"interesting": int(Interesting.PLACE)}),
    Turn("random-walk", range(0)),
    Turn("pct", range(0), {"depth": 3}),
    Turn("surw", range(0)),
    Turn("surw", range(0), {"interesting": int(Interesting.ATOMIC | Interesting.SYNC)}),
    Turn(DEPTH_FIRST, range(0)),
)


def turns(
    seed: int, mix: Sequence[Turn] = MIX, *, size: int = 1, most: int = 512
) -> Iterator[Turn]:
    """Without end: one schedule in turns, then each of the mix in batches that grow.

    They begin small: where one run takes seconds, each policy is to have its turn all the same.

    No schedule comes twice while seeds last: each round has the seeds after the last round's. What
    is run one after the other has no seeds, and as many runs as half of the others together.
    """
    yield Turn("round-robin", range(1))
    while True:
        for turn in mix:
            if turn.policy == DEPTH_FIRST:
                yield replace(turn, seeds=range(size * len(MIX) // 2))
                continue
            yield replace(turn, seeds=range(seed, seed + size))
            seed += size
        size = min(size * 2, most)


def chosen(text: str) -> Turn:
    """What a person asks for: NAME, or NAME:PARAMETER=NUMBER."""
    name, *pairs = text.split(":")
    if name not in POLICIES:
        raise UsageError(f"there is no scheduler {name}: {', '.join(POLICIES)}")
    tuning = dict(_parameter(POLICIES[name], pair) for pair in pairs)
    return Turn(name, range(0), tuning)


def _parameter(policy: Policy, pair: str) -> tuple[str, int]:
    name, _, value = pair.partition("=")
    allowed = policy.takes.get(name)
    if allowed is None:
        known = ", ".join(policy.takes) or "none"
        raise UsageError(f"{policy.name} has no parameter {name}; it takes: {known}")
    if not value.isascii() or not value.isdigit() or int(value) not in allowed:
        raise UsageError(f"{policy.name}: {name} is a number from {allowed[0]} to {allowed[-1]}")
    return name, int(value)
