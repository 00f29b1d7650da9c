# SPDX-License-Identifier: Apache-2.0
"""What recording a tree of processes costs: bare, under each recorder of ours, under strace -f.

All run in turn; the processor's time is that of the tree and of whoever looks at it. Figures are
medians of the rounds. What a call costs has two parts: what the tree takes more than bare, and
what the recorder takes itself. What every recording costs once, whatever is recorded, is told
apart: it is what recording `true` takes more than `true`. Bare and BPF differ by little: they run
in many more pairs, at the same addresses each time, and what a call costs is told with its interval
of 95 % (`benchmarks/pairs.py`). In turn with them it runs beside programs in the kernel that do
nothing: that much of it no recorder of this kind can do without. The bars: of what strace costs
above bare, half on forks and 0.8 elsewhere by ptrace; 500 ns a recorded call by BPF, of both parts.
"""

import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.kernel_programs import Programs, idle
from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.pairs import Estimate, estimate, in_turn
from benchmarks.running import Spent, fixed_layout, spent, workplace
from benchmarks.sources import need
from benchmarks.subjects.subject import Job
from benchmarks.workloads import FORKS, WORKLOADS

from eitherway.installed import native
from eitherway.recording.read import Recording
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.run import TRACER
from eitherway.worlds.processes.watching import RECORDER, Watching

BARS = {f"{FORKS} forks": 0.5}
BAR = 0.8  # elsewhere
BAR_OF_BPF = 500  # ns for each call
PAIRS = 15  # of bare and BPF, for each round of all
NOTHING = 20  # recordings of `true`
COMING = "coming"  # bare, beside programs that do nothing: what it takes to come to them


@dataclass(frozen=True, slots=True)
class Variant:
    """What comes before a command, with a folder for what is written; descriptors it needs."""

    words: Callable[[Path, int], list[str]]  # the folder, and a descriptor of it
    passed: tuple[int, ...] = ()
    beside: Callable[[], AbstractContextManager[None]] = nullcontext

    def spent(self, job: Job, folder: Path) -> Spent:
        """Run it once."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            words = self.words(folder, descriptor)
            with self.beside():
                return spent(job, before=words, passed=(*self.passed, descriptor))
        finally:
            os.close(descriptor)


def _recorder(program: str, *options: str, passed: tuple[int, ...] = ()) -> Variant:
    def words(_: Path, descriptor: int) -> list[str]:
        return [str(native(program)), "--into", str(descriptor), *options, "--"]

    return Variant(words, passed)


PTRACE = _recorder(TRACER)
OURS = ("ptrace", "bpf")
OTHERS = {
    "bare": Variant(lambda *_: []),
    "strace": Variant(lambda folder, _: ["strace", "-f", "-o", str(folder / "strace")]),
}


def coming(programs: Programs) -> Variant:
    """Bare, while these are in the kernel."""
    return Variant(lambda *_: [], beside=programs.present)


def ours(watching: Watching) -> dict[str, Variant]:
    """Our recorders."""
    socket = watching.fileno()
    return {
        "ptrace": PTRACE,
        "bpf": _recorder(RECORDER, "--loader", str(socket), passed=(socket,)),
    }


@dataclass(frozen=True, slots=True)
class Measured:
    """One run."""

    spent: Spent
    calls: int = 0  # recorded
    size: int = 0  # bytes


Rounds = dict[str, list[Measured]]


@contextmanager
def _empty(folder: Path) -> Iterator[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder)


def measured(job: Job, place: Path, variant: Variant, *, counted: bool = True) -> Measured:
    """Once under one variant; whether the calls are to be counted."""
    with _empty(place / "written") as folder:
        took = variant.spent(job, folder)
        if not counted or not (folder / "MANIFEST").exists():
            return Measured(took)
        size = sum(file.stat().st_size for file in folder.iterdir())
        with Recording.open(folder) as recording:
            return Measured(took, len(Log.read(recording).calls), size)


def compared(name: str, rounds: int, variants: Mapping[str, Variant]) -> Rounds:
    """Every variant once per round, in turn."""
    found: Rounds = {variant: [] for variant in variants}
    with workplace() as place:
        job = WORKLOADS[name](place)
        for number in range(rounds):
            progress(f"{name}, round {number + 1} of {rounds}")
            for title, variant in variants.items():
                found[title].append(measured(job, place, variant))
        once = partial(measured, job, place, counted=False)
        arms = {title: partial(once, variants[title]) for title in ("bare", COMING, "bpf")}
        progress(f"{name}, {rounds * (PAIRS - 1)} pairs")
        for title, runs in in_turn(arms, rounds * (PAIRS - 1)).items():
            found[title] += runs
    return found


def once(variants: Mapping[str, Variant]) -> dict[str, float]:
    """Seconds of the processor that each takes more than bare to record what does nothing."""
    with workplace() as place:
        job = Job(("/bin/true",), place / "work", lambda out: not out)
        found: Rounds = {title: [] for title in variants}
        for _ in range(NOTHING):
            for title, variant in variants.items():
                found[title].append(measured(job, place, variant))
    return {title: above(found, title) for title in variants}


def _median(runs: list[Measured], what: Callable[[Measured], float]) -> float:
    return statistics.median(map(what, runs))


def _calls(runs: list[Measured]) -> float:
    return statistics.median(run.calls for run in runs if run.calls)


def _cpu(run: Measured) -> float:
    return run.spent.processor


def _wall(run: Measured) -> float:
    return run.spent.wall


def above(rounds: Rounds, variant: str) -> float:
    """Seconds of the processor that it adds."""
    return _median(rounds[variant], _cpu) - _median(rounds["bare"], _cpu)


def share(rounds: Rounds, variant: str) -> float:
    """Of what strace adds."""
    return above(rounds, variant) / above(rounds, "strace")


def per_call(rounds: Rounds, variant: str, start: float = 0.0) -> float:
    """Nanoseconds for each recorded call, without the seconds that are taken once."""
    return (above(rounds, variant) - start) / _calls(rounds[variant]) * 1e9


def in_pairs(rounds: Rounds, variant: str, start: float = 0.0, calls: float = 0.0) -> Estimate:
    """The same, from pairs with bare; of so many calls where none were recorded."""
    calls = calls or _calls(rounds[variant])
    pairs = zip(rounds["bare"], rounds[variant], strict=True)
    return estimate([(_cpu(seen) - _cpu(bare) - start) / calls * 1e9 for bare, seen in pairs])


def in_recorder(rounds: Rounds, variant: str, start: float = 0.0) -> float:
    """Of these, what the recorder takes itself."""
    own = _median(rounds[variant], lambda run: run.spent.own)
    return (own - start) / _calls(rounds[variant]) * 1e9


def _times(rounds: Rounds, variant: str) -> list[str]:
    bare = rounds["bare"]
    return [f"{_median(rounds[variant], unit) / _median(bare, unit):.2f}" for unit in (_cpu, _wall)]


def ratios(name: str, rounds: Rounds) -> list[str]:
    """A row: the bare seconds, and how many times as much the others take."""
    bare = [f"{_median(rounds['bare'], unit):.2f}" for unit in (_cpu, _wall)]
    others = [cell for variant in (*OTHERS, *OURS)[1:] for cell in _times(rounds, variant)]
    return [name, *bare, *others]


def held(text: str, misses: bool) -> str:
    """Bold when it is over its bar."""
    return f"**{text}**" if misses else text


def costs(name: str, rounds: Rounds, start: Mapping[str, float]) -> list[str]:
    """A row: what each recorder of ours costs above bare; what is over its bar is bold."""
    cells = [name]
    for variant in OURS:
        runs, found = rounds[variant], share(rounds, variant)
        sizes = statistics.median(run.size for run in runs if run.calls)
        cells += [f"{_calls(runs):,.0f}", f"{sizes / _calls(runs):.0f}"]
        if variant == "ptrace":
            cells += [held(f"{found:.2f}", found > BARS.get(name, BAR))]
            cells += [f"{per_call(rounds, variant, start[variant]):,.0f}"]
        else:
            cells += [f"{found:.2f}"]
            cells += [in_pairs(rounds, variant, start[variant]).told(BAR_OF_BPF)]
        cells += [f"{in_recorder(rounds, variant, start[variant]):,.0f}"]
    return [*cells, in_pairs(rounds, COMING, calls=_calls(rounds["bpf"])).told()]


def _noise(all_rounds: list[Rounds]) -> str:
    """How much the bare runs differ among themselves."""
    spreads = []
    for rounds in all_rounds:
        seconds = [run.spent.processor for run in rounds["bare"]]
        spreads.append((max(seconds) - min(seconds)) / statistics.median(seconds))
    return f"Bare runs differ by {min(spreads):.0%} to {max(spreads):.0%} (highest less lowest)."


def main() -> None:
    """Both tables."""
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("workloads", nargs="*", help="only those whose names begin so")
    options = parser.parse_args()
    need("strace", "strace")
    fixed_layout()
    names = [name for name in WORKLOADS if name.startswith(tuple(options.workloads or [""]))]
    watch = Watch()
    with Watching() as watching, idle() as programs:
        variants = {**OTHERS, **ours(watching)}
        start = once(variants)
        variants[COMING] = coming(programs)
        found = {name: compared(name, options.rounds, variants) for name in names}
    head = ["workload", "bare: cpu s", "wall s"]
    head += [cell for name in (*OTHERS, *OURS)[1:] for cell in (f"{name}: cpu", "wall")]
    first = table(head, [ratios(name, rounds) for name, rounds in found.items()])
    each = ("bytes a call", "of strace's cost", "ns a call", "in the recorder")
    head = ["workload", *(cell for name in OURS for cell in (f"{name}: calls", *each))]
    head += ["coming to programs that do nothing"]
    second = table(head, [costs(name, rounds, start) for name, rounds in found.items()])
    begins = " and ".join(f"{start[name] * 1e3:.1f} by {name}" for name in OURS)
    told = f"{watch.told()} {_noise(list(found.values()))} Once for each recording, ms: {begins}."
    published(f"{told}\n\n{first}\n\n{second}", "recording", options.write)


if __name__ == "__main__":
    started(main)
