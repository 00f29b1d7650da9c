# SPDX-License-Identifier: Apache-2.0
"""What judging one race costs: branches, and time against what these have to run.

The races of a recorded run are judged one after the other, by one worker, as `eitherway judge` does
it: the time of a race holds everything from the trace of that run, which the first one pays for, to
the reason that is told, and that of the tools that name what lies where.
`over` is its time of the processor divided by what its branches have to run: for each, what an
instrumented run of the same server takes behind the first access of the pair. That is measured: the
run as a whole, less the same run up to there. `native` is its time of the wall in runs of the
program as it is built without us.
"""

import resource
import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest import mock

from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.running import spent, workplace
from benchmarks.sources import BARE, OURS, small_program
from benchmarks.subjects.pbzip2 import Pbzip2Unlocked
from benchmarks.subjects.sqlite import Sqlite
from benchmarks.subjects.subject import Size, Subject
from tests.corpus.checked import FLAGS, build, compiled
from tests.corpus.expect import Truth, truths

from eitherway.closing import Closing
from eitherway.errors import Unavailable, UsageError
from eitherway.find.candidates import Candidates
from eitherway.find.confirm import Tracer
from eitherway.find.judged import Judge
from eitherway.find.ways import Way
from eitherway.model.finding import Finding
from eitherway.model.words import Kind
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.confined import confined
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.guide import UNGUIDED, Guidance
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.server import Server

SEEDS = range(40)  # that are tried until one shows a race
ROUNDS = 5  # of what is run to compare with
_TOLD, _LEAST = 0.1, 0.001  # what is less of a run, or in seconds, is hidden by chance
PLAN = Plan(timeout=60)
THREADS, MEBIBYTES, STEPS = 2, 10, 100_000_000  # of the program that grows


Bare = Callable[[], float]  # seconds of the wall, of one run without us


class Counted(Explorer):
    """Counts branches, by where they begin."""

    def __init__(self, launch: Launch, box: Sandbox) -> None:
        """As any other."""
        super().__init__(launch, box, plan=PLAN)
        self.cuts = Counter[int]()

    def branch(
        self,
        replay: Ran,
        *,
        cut: int,
        seed: int,
        guidance: Guidance,
        kept_from: tuple[int, int] = (0, 0),
    ) -> Ran:
        """One more."""
        self.cuts[cut] += 1
        return super().branch(replay, cut=cut, seed=seed, guidance=guidance, kept_from=kept_from)


class Behind(Closing):
    """What a run takes behind each of its steps."""

    def __init__(self, launch: Launch, folder: Path, ran: Ran) -> None:
        """The run is done again many times, with races looked for."""
        self._launch = launch
        self._folder = folder
        self._ran = ran
        self._stack = ExitStack()
        self._served: tuple[Sandbox, Server] | None = None
        self.whole = self._median(partial(Server.run, replay=ran, detect=True))

    @cache  # noqa: B019  there are few, and none lives long
    def behind(self, step: int) -> float:
        """Seconds of the processor."""
        return self.whole - self._median(partial(self._stand, step=step))

    def _stand(self, server: Server, step: int) -> None:
        if server.stand(self._ran, UNGUIDED, step, PLAN):
            server.fall()

    def _median(self, work: Callable[[Server], object]) -> float:
        return statistics.median(self._spent(work) for _ in range(ROUNDS))

    def _spent(self, work: Callable[[Server], object]) -> float:
        box, server = self._served or self._serving()
        before = server.spent
        work(server)
        self._served = box, server
        if server.is_gone or box.dirty():
            self.close()
        return server.spent - before

    def _serving(self) -> tuple[Sandbox, Server]:
        box = self._stack.enter_context(confined(work=[str(self._folder)]))
        return box, self._stack.enter_context(Server(self._launch, box=box))

    def close(self) -> None:
        """End what runs."""
        self._served = None
        self._stack.close()


class Tools:
    """Those that are started and waited for, with their time of the processor."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._run = subprocess.run

    def __call__(self, *words: Any, **how: Any) -> "subprocess.CompletedProcess[Any]":
        """As `subprocess.run`."""
        before = _of_children()
        try:
            return self._run(*words, **how)
        finally:
            self.spent += _of_children() - before


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one race; times in seconds."""

    klass: str
    steps: int
    branches: int
    remaining: float  # what they had to run, together: of the processor
    run: float  # one as a whole: of the processor
    wall: float
    cpu: float
    native: float  # one run without us: of the wall

    @property
    def over(self) -> float | None:
        """The time, in what the branches had to run; None: it is too little to be measured."""
        least = self.branches * max(_TOLD * self.run, _LEAST)
        return self.cpu / self.remaining if self.remaining >= least else None


def costs(command: Sequence[str], bare: Bare, folder: Path) -> Iterator[Cost]:
    """Of all races of the first run that shows one."""
    native = min(bare() for _ in range(ROUNDS))  # others slept: SQLite does where threads meet
    launch = Launch(tuple(command), str(folder), Launch.here(command).environment)
    with confined(work=[str(folder)]) as box, Counted(launch, box) as explorer:
        ran, findings = racing(explorer)
        with ExitStack() as stack:  # whoever closes a judge closes its explorers
            run = stack.enter_context(Behind(launch, folder, ran))
            judge = stack.enter_context(Judge([explorer], fixed=True, isolation=""))
            for finding in findings:
                yield _cost(explorer, judge, ran, finding, run, native)


def _wall(work: Callable[[], object]) -> float:
    since = perf_counter()
    work()
    return perf_counter() - since


def _command(words: Sequence[str], folder: Path) -> Bare:
    """One that leaves nothing behind."""
    return partial(_wall, partial(subprocess.run, words, cwd=folder, capture_output=True))


def racing(explorer: Explorer) -> tuple[Ran, list[Finding]]:
    """The first run that shows a race, with all that it shows."""
    tracer = Tracer(explorer, fixed=True)
    for seed in SEEDS:
        ran = explorer.run(seed=seed, detect=True)
        seen, way = Candidates(), Way("random-walk", seed)
        own = ran.found.rows[ran.found.rows["slot"] == 0]
        rows = own[own["kind"] == FoundKind.RACE]
        candidates = [one for row in rows if (one := seen.new(way, row))]
        found = tracer.races(candidates, ran).findings if candidates else ()
        races = {one.id: one for one in found if one.kind is Kind.DATA_RACE}
        if races:
            return ran, list(races.values())
    raise Unavailable(f"none of {len(SEEDS)} schedules shows a race")


def _cost(  # noqa: PLR0917
    explorer: Counted, judge: Judge, ran: Ran, finding: Finding, run: Behind, native: float
) -> Cost:
    explorer.cuts.clear()
    since, spent, tools = perf_counter(), explorer.spent + process_time(), Tools()
    with mock.patch("subprocess.run", tools):
        judged = judge.judged(finding, ran, lambda _: Path("kept"))
    wall, cpu = perf_counter() - since, explorer.spent + process_time() + tools.spent - spent
    return Cost(
        judged.klass,
        ran.schedule.reached,
        explorer.cuts.total(),
        sum(run.behind(cut) * times for cut, times in explorer.cuts.items()),
        run.whole,
        wall,
        cpu,
        native,
    )


# --- what is judged


def micro(truth: Truth) -> list[Cost]:
    """A program of the corpus."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as name:
        program, bare = Path(name, truth.name), Path(name, "bare")
        build(truth.source, program)
        compiler = {".c": "gcc", ".cc": "g++"}[truth.source.suffix]
        compiled([compiler, *FLAGS[truth.source.suffix], "-pthread"], truth.source, bare)
        return _judged(truth.name, [str(program)], _command([str(bare)], Path(name)), Path(name))


def real(subject: Subject, size: Size) -> list[Cost]:
    """A program as people use it."""
    with workplace() as folder:
        ours, bare = (
            subject.job(subject.build(kit), size, folder / kit.name) for kit in (OURS, BARE)
        )
        ours.folder.mkdir()
        return _judged(subject.name, ours.command, lambda: spent(bare).wall, ours.folder)


def grown(threads: int = THREADS, mebibytes: int = MEBIBYTES) -> list[Cost]:
    """A program whose race comes in the middle of its work."""
    words = [str(threads), str(mebibytes), str(STEPS)]
    ours, bare = ([str(small_program("late_race", kit)), *words] for kit in (OURS, BARE))
    with workplace() as folder:
        return _judged(f"late_race {' '.join(words)}", ours, _command(bare, folder), folder)


def _judged(name: str, ours: Sequence[str], bare: Bare, folder: Path) -> list[Cost]:
    progress(name)
    try:
        return list(costs(ours, bare, folder))
    except Unavailable as problem:
        progress(f"{name}: {problem.message}")
        return []


# --- tables

HEAD = ["races", "steps", "branches", "cpu s", "wall s", "over", "native"]


def row(name: str, some: Sequence[Cost], choose: Callable[[list[float]], float]) -> list[str]:
    """Each figure by itself."""

    def of(figure: Callable[[Cost], float]) -> float:
        return choose([figure(cost) for cost in some])

    overs = [cost.over for cost in some if cost.over is not None]
    return [
        name,
        str(len(some)),
        f"{of(lambda cost: cost.steps):,.0f}",
        f"{of(lambda cost: cost.branches):.0f}",
        f"{of(lambda cost: cost.cpu):.2f}",
        f"{of(lambda cost: cost.wall):.2f}",
        f"{choose(overs):.2f}" if overs else "-",
        f"{of(lambda cost: cost.wall / cost.native):,.0f}",
    ]


def micro_table(names: Sequence[str]) -> str:
    """All programs of the corpus with a data race."""
    every = [one for one in truths() if any(Kind.DATA_RACE in e.kinds for e in one.expected)]
    if unknown := sorted(set(names) - {one.name for one in every}):
        raise UsageError(f"there is no program {', '.join(unknown)} with a race in tests/programs")
    chosen = [one for one in every if not names or one.name in names]
    some = [cost for one in chosen for cost in micro(one)]
    rows = [row("median", some, statistics.median), row("worst", some, max)]
    return table([f"{len(chosen)} programs of the corpus", *HEAD], rows)


def real_table() -> str:
    """Programs that people use."""
    rows = []
    chosen = (
        ("one block", Pbzip2Unlocked(), Size.SMALL),
        ("ten blocks", Pbzip2Unlocked(), Size.PART),
        ("three rounds", Sqlite(), Size.SMALL),
    )
    for words, subject, size in chosen:
        for number, cost in enumerate(real(subject, size), 1):
            rows.append(row(f"{subject.name}, {words}: race {number}", [cost], max))
    return table(["real programs", *HEAD], rows)


def growth_tables() -> list[str]:
    """One number at a time."""
    heaps = [row(f"{n}", grown(mebibytes=n), statistics.median) for n in (10, 100, 1000)]
    crowds = [row(f"{n}", grown(threads=n), statistics.median) for n in (2, 8, 32)]
    return [table(["heap MiB", *HEAD], heaps), table(["threads", *HEAD], crowds)]


def main() -> None:
    """Four tables."""
    parser = arguments(__doc__ or "")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="of the corpus, only these")
    parser.add_argument("--only", choices=("micro", "real", "growth"), help="one sort of tables")
    options = parser.parse_args()
    fix_addresses()
    watch, only = Watch(), options.only
    tables = [micro_table(options.programs)] if only in (None, "micro") else []
    tables += [real_table()] if only in (None, "real") else []
    tables += growth_tables() if only in (None, "growth") else []
    published("\n\n".join([watch.told(), *tables]), "judging cost", options.write)


if __name__ == "__main__":
    started(main)
