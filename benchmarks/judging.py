# SPDX-License-Identifier: Apache-2.0
"""Classes that `judge` gives the data races of the corpus, held against enumerated schedules.

Each program is checked and judged with so many seeds. What is true of a race is told by schedules
that show it: all ways to go on after either order (tests/judge/races.py). Where an enumeration has
not come to both orders, what all schedules of the program show is the truth.
"""

import argparse
import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest import mock

from benchmarks.measure import Watch, arguments, progress, published, started, table
from tests.corpus.checked import build, checked
from tests.corpus.expect import Truth, truths
from tests.judge.races import truths_of

from eitherway.errors import UsageError
from eitherway.find.confirm import Tracer
from eitherway.find.states import DIFFERS_NEAR, NOTHING_LEFT, SAME_NEAR
from eitherway.model.finding import Finding
from eitherway.model.words import Class, Kind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses

SAME, DIFFERS, NOTHING = "same", "differs", "-"  # what the state behind the two says
HARMLESS = (Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING)  # one order alone is as harmless
SEEDS, SCHEDULES, MASTER = 10, 24, 20_261_116
BOUNDS, SECONDS = range(3), 4.0  # of the enumeration: preemptions, and time for each program
TIMEOUT = 2.0  # seconds after which a run counts as hanging: they take milliseconds


@dataclass(slots=True)
class Race:
    """One race of one program."""

    variable: str = ""
    truth: str = ""  # its class
    both: bool = False  # the enumeration came to both orders of it
    open: bool = False  # both orders lead to the same several ends, by different choices
    told: Counter[str] = field(default_factory=Counter)  # classes, over the seeds
    near: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def agrees(self) -> bool:
        """With every seed."""
        return all(_alike(self.truth, klass) for klass in self.told)

    @property
    def is_known(self) -> bool:
        """Whether the enumeration says what is true of this race."""
        decides = self.truth != Class.K_WITNESS_HARMLESS
        return not self.open if not decides else self.both


def _alike(truth: str, klass: str) -> bool:
    return truth == klass or {truth, klass} <= set(HARMLESS)


@dataclass(slots=True)
class Record:
    """One program."""

    name: str
    bound: int  # preemptions with which all schedules were run
    races: dict[str, Race]


def measured(truth: Truth, seeds: Sequence[int]) -> Record:
    """Enumerate one program, check and judge it."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        program = Path(folder) / truth.name
        build(truth.source, program)
        races: defaultdict[str, Race] = defaultdict(Race)
        for seed in seeds:
            for finding in _judged(program, seed):
                _add(races[finding.id], finding)
        return _with_truth(truth.name, program, dict(races))


def _judged(program: Path, seed: int) -> list[Finding]:
    options = ("--judge", "--seed", str(seed), "--schedules", str(SCHEDULES))
    # Failures are not what is measured.
    with mock.patch("eitherway.find.explaining.explain_all", return_value=[]):
        findings = checked(program, *options, "--timeout", str(TIMEOUT)).findings
    return [finding for finding in findings if finding.kind is Kind.DATA_RACE]


def _add(race: Race, finding: Finding) -> None:
    race.variable = race.variable or finding.operations[0].variable
    race.told[finding.klass] += 1
    race.near[_state_alone(finding)] += 1
    race.reasons[finding.reason] += 1


def _state_alone(finding: Finding) -> str:
    """What the state behind the two would have said: the criterion of 2007."""
    if SAME_NEAR in finding.explanation or NOTHING_LEFT in finding.explanation:
        return SAME
    harmful = any(words.startswith(DIFFERS_NEAR) for words in finding.explanation)
    return DIFFERS if harmful else NOTHING


def _with_truth(name: str, program: Path, races: dict[str, Race]) -> Record:
    fix_addresses()
    launch = Launch.here([str(program)])
    with Sandbox(require=()) as box, Explorer(launch, box, plan=Plan(timeout=TIMEOUT)) as explorer:
        known = truths_of(explorer, Tracer(explorer, fixed=True), BOUNDS, SECONDS)
    seen = (known.enumeration.outcomes.worst, *(race.klass for race in known.races.values()))
    worst = max(seen, key=lambda klass: klass.weight)
    for number, race in races.items():
        of_race = known.races[number]
        race.both = of_race.both > 0
        race.open = of_race.open
        race.truth = of_race.klass if race.both else worst
    return Record(name, known.enumeration.bound, races)


# --- tables


def summary(records: Sequence[Record], seeds: int) -> str:
    """By what is true: how many were told so with every seed, and what the state alone says."""
    races = [race for record in records for race in record.races.values()]
    known = [race for race in races if race.is_known]
    rows = []
    for klass in Class:
        some = [race for race in known if race.truth == klass]
        if some:
            alone = Counter(race.near.most_common(1)[0][0] for race in some)
            same = sum(race.agrees for race in some)
            near = [str(alone[word]) for word in (SAME, DIFFERS, NOTHING)]
            rows.append([klass.value, str(len(some)), str(same), *near])
    agree = sum(race.agrees for race in known)
    one = sum(len(race.told) == 1 for race in races)
    head = ["schedules show", "races", "judged so", "2007: harmless", "2007: harmful", "not told"]
    return (
        f"{len(records)} programs, {len(races)} races, {seeds} seeds. Of {len(known)} races it is "
        f"known what their order decides; {agree} of them are judged so with every seed. {one} "
        f"races have the same class with every seed.\n\n{table(head, rows)}"
    )


def classes(records: Sequence[Record]) -> str:
    """How often each class and reason was told."""
    told: Counter[tuple[str, str]] = Counter()
    for record in records:
        for race in record.races.values():
            reason = race.reasons.most_common(1)[0][0].partition(":")[0]
            told[race.told.most_common(1)[0][0], reason] += 1
    rows = [[klass, reason or "-", str(count)] for (klass, reason), count in sorted(told.items())]
    return table(["class", "reason", "races"], rows)


def exceptions(records: Sequence[Record]) -> str:
    """What was judged otherwise than schedules show."""
    rows = [
        [
            record.name,
            race.variable or "-",
            race.truth if race.is_known else "-",
            ", ".join(f"{klass} ({count})" for klass, count in race.told.most_common()),
        ]
        for record in records
        for race in record.races.values()
        if len(race.told) > 1 or (race.is_known and not race.agrees)
    ]
    if not rows:
        return "There is none that was judged otherwise, or differently with different seeds."
    head = ["program", "variable", "schedules show", "judged"]
    return f"Judged otherwise, or differently with different seeds:\n\n{table(head, rows)}"


# --- going on after a break


def _kept(truth: Truth, seeds: Sequence[int], folder: Path | None) -> Record:
    path = folder and folder / f"{truth.name}-{len(seeds)}.json"
    if path and path.exists():
        told = json.loads(path.read_text(encoding="utf-8"))
        races = {number: _race(fields) for number, fields in told["races"].items()}
        return Record(truth.name, told["bound"], races)
    record = measured(truth, seeds)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        races_told = {number: _fields(race) for number, race in record.races.items()}
        told = {"bound": record.bound, "races": races_told}
        path.write_text(json.dumps(told), encoding="utf-8")
    return record


_COUNTED = ("told", "near", "reasons")


def _fields(race: Race) -> dict[str, object]:
    return {name: getattr(race, name) for name in ("variable", "truth", "both", "open", *_COUNTED)}


def _race(fields: dict[str, object]) -> Race:
    counted = {name: Counter(fields[name]) for name in _COUNTED}  # type: ignore[call-overload]
    both, is_open = bool(fields["both"]), bool(fields["open"])
    return Race(str(fields["variable"]), str(fields["truth"]), both, is_open, **counted)


# --- the command


def _has_a_race(truth: Truth) -> bool:
    return any(Kind.DATA_RACE in one.kinds for one in (*truth.expected, *truth.allowed))


def _chosen(names: list[str]) -> list[Truth]:
    every = {truth.name: truth for truth in truths()}
    if unknown := sorted(set(names) - every.keys()):
        raise UsageError(f"there is no program {', '.join(unknown)} in tests/programs")
    return [every[name] for name in names] or list(filter(_has_a_race, every.values()))


def _options() -> argparse.Namespace:
    parser = arguments(__doc__ or "")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all with a race")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"(default: {SEEDS})")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default: 1)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="what is done already: to go on after a break"
    )
    return parser.parse_args()


def main() -> None:
    """Measure all programs that have a data race, or those that are named."""
    options, watch, records = _options(), Watch(), []
    seeds = random.Random(MASTER).sample(range(2**31), options.seeds)  # noqa: S311  no secret
    with ProcessPoolExecutor(options.jobs) as pool:
        work = partial(_kept, seeds=seeds, folder=options.keep)
        for record in pool.map(work, _chosen(options.programs)):
            progress(record.name)
            records.append(record)
    told = (summary(records, len(seeds)), classes(records), exceptions(records))
    published(f"{watch.told()}\n\n" + "\n\n".join(told), "classes", options.write)


if __name__ == "__main__":
    started(main)
