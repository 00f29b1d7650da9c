# SPDX-License-Identifier: Apache-2.0
"""Classes that `judge` gives the data races of the corpus, held against enumerated schedules.

Each program is checked and judged with so many seeds. The truth is that of the whole program: what
its schedules with few preemptions do. So a race of a program that fails need not be the cause of
it, and such a program agrees when one of its races is told to be.
"""

import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure import arguments, progress, published, started, table
from tests.corpus.checked import build, checked
from tests.corpus.expect import Truth, truths
from tests.judge.truth import truth_of

from eitherway.find.confirm import Tracer
from eitherway.find.states import DIFFERS_NEAR, SAME_NEAR
from eitherway.model.finding import Finding
from eitherway.model.words import Class, Kind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses

HARMLESS, HARMFUL, NOTHING = "same", "differs", "-"
SEEDS, SCHEDULES, MASTER = 3, 100, 20_261_116
BOUNDS, SECONDS = range(3), 5.0  # of the enumeration: preemptions, and time for each program


@dataclass(slots=True)
class Record:
    """One program."""

    name: str
    truth: Class
    classes: defaultdict[str, Counter[Class]] = field(default_factory=lambda: defaultdict(Counter))
    near: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def worst(self) -> Class:
        """Of all races and seeds."""
        told = {klass for counts in self.classes.values() for klass in counts}
        return max(told, key=lambda klass: klass.weight, default=Class.UNJUDGED)

    @property
    def agrees(self) -> bool:
        """Whether the worst is the truth; one order alone is as harmless as both."""
        harmless = (Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING)
        return self.worst is self.truth or {self.worst, self.truth} <= set(harmless)


def measured(truth: Truth, seeds: Sequence[int]) -> Record:
    """Check, judge and enumerate one program."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        program = Path(folder) / truth.name
        build(truth.source, program)
        record = Record(truth.name, enumerated(program))
        for seed in seeds:
            options = ("--judge", "--seed", str(seed), "--schedules", str(SCHEDULES))
            for finding in checked(program, *options).findings:
                if finding.kind is Kind.DATA_RACE:
                    record.classes[finding.id][finding.klass] += 1
                    record.near[finding.id][_state_alone(finding)] += 1
    return record


def _state_alone(finding: Finding) -> str:
    """What the state behind the two would have said: the criterion of 2007."""
    if SAME_NEAR in finding.explanation:
        return HARMLESS
    harmful = any(words.startswith(DIFFERS_NEAR) for words in finding.explanation)
    return HARMFUL if harmful else NOTHING


def enumerated(program: Path) -> Class:
    """The truth."""
    launch = Launch.here([str(program)])
    with Sandbox(require=()) as box, Explorer(launch, box, plan=Plan(timeout=5)) as explorer:
        return truth_of(explorer, Tracer(explorer, fixed=True), BOUNDS, SECONDS)


def summary(records: Sequence[Record]) -> str:
    """Races by class, how many had the same with every seed, and what the state alone says."""
    same: Counter[str] = Counter()
    several: Counter[str] = Counter()
    alone: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        for number, counts in record.classes.items():
            name = " or ".join(sorted(counts))
            (same if len(counts) == 1 else several)[name] += 1
            alone[name][record.near[number].most_common(1)[0][0]] += 1
    rows = [
        [name, str(count), *(str(alone[name][word]) for word in (HARMLESS, HARMFUL, NOTHING))]
        for name, count in (same + several).most_common()
    ]
    head = ["class", "races", "2007: harmless", "2007: harmful", "2007: not told"]
    return table(head, rows)


def exceptions(records: Sequence[Record]) -> str:
    """Programs whose worst class is not what their schedules show."""
    rows = [[one.name, one.truth.value, one.worst.value] for one in records if not one.agrees]
    head = f"{sum(one.agrees for one in records)} of {len(records)} programs agree."
    return f"{head}\n\n{table(['program', 'schedules show', 'judged'], rows)}" if rows else head


def _has_a_race(truth: Truth) -> bool:
    return any(Kind.DATA_RACE in one.kinds for one in (*truth.expected, *truth.allowed))


def main() -> None:
    """Measure all programs that have a data race, or those that are named."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    fix_addresses()
    seeds = random.Random(MASTER).sample(range(2**31), args.seeds)  # noqa: S311  no secret
    records = []
    for truth in truths():
        wanted = truth.name in args.programs if args.programs else _has_a_race(truth)
        if wanted:
            progress(truth.name)
            records.append(measured(truth, seeds))
    published(f"{summary(records)}\n\n{exceptions(records)}", "classes", args.write)


if __name__ == "__main__":
    started(main)
