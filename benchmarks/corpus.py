# SPDX-License-Identifier: Apache-2.0
"""What `check`, libtsan and Helgrind find of what is true of the programs in tests/programs.

`check` gets so many seeds, drawn from a stated one, and so many seconds for each; the others get
the same seconds once. The summary and what was not as it should be go into the page.
"""

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.rivals import Rival, judged, rivals
from tests.corpus.checked import CheckError, build, checked
from tests.corpus.expect import Expectation, Truth, truths
from tests.corpus.told import Comparison, compared, told_of

from eitherway.errors import UsageError

SEEDS, SECONDS, MASTER = 20, 5.0, 20_261_115
ENOUGH = 0.95  # of the seeds
TIMEOUT = "1"  # seconds after which one run counts as hanging: they take milliseconds


@dataclass(slots=True)
class Record:
    """One tool on one program."""

    truth: Truth
    runs: int = 0
    found: Counter[str] = field(default_factory=Counter)  # by the words of what is expected
    false: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def add(self, result: Comparison) -> None:
        """One more run."""
        self.runs += 1
        self.found.update({one.words for one in result.found})
        self.false.update({str(one) for one in result.false})

    def is_found(self, expected: Expectation) -> bool:
        """In enough of the runs."""
        return self.found[expected.words] >= ENOUGH * self.runs


Tool = dict[str, Record]  # by program
Work = Callable[[Truth], Record]


def ours(truth: Truth, seeds: Sequence[int], seconds: float) -> Record:
    """`check` with each seed."""
    record = Record(truth)
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        program = Path(folder) / truth.name
        build(truth.source, program)
        for seed in seeds:
            options = ("--seed", str(seed), "--seconds", str(seconds), "--timeout", TIMEOUT)
            try:
                document = checked(program, *options)
            except CheckError as problem:
                record.broken.append(f"seed {seed}: {problem}")
                continue
            bugs = [note for note in document.summary.notes if "a bug in EitherWay" in note]
            record.broken.extend(f"seed {seed}: {note}" for note in bugs)
            record.add(compared(truth, [told_of(f, truth.source) for f in document.findings]))
    return record


def theirs(truth: Truth, rival: Rival, seconds: float) -> Record:
    """The same time, once."""
    record = Record(truth)
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        program = Path(folder) / truth.name
        rival.build(truth.source, program)
        record.add(judged(truth, rival.told(program, truth, seconds)))
    return record


# --- tables


def summary(tools: dict[str, Tool]) -> str:
    """Side by side: what was expected, by kind, and what was false."""
    kinds = Counter(_kind(one) for truth in truths_of(tools) for one in truth.expected)
    rows = [
        [kind, str(count), *(str(_found(tool, kind)) for tool in tools.values())]
        for kind, count in kinds.most_common()
    ]
    total = ["all", str(kinds.total()), *(str(_found(tool)) for tool in tools.values())]
    right = [truth for truth in truths_of(tools) if not truth.expected]
    clean = ["nothing", str(len(right)), *(str(_clean(tool)) for tool in tools.values())]
    false = ["false reports", "0", *(str(_false(tool)) for tool in tools.values())]
    return table(["expected", "there are", *tools], [*rows, total, clean, false])


def truths_of(tools: dict[str, Tool]) -> list[Truth]:
    """The programs that were measured."""
    return [record.truth for record in next(iter(tools.values())).values()]


def _kind(expected: Expectation) -> str:
    return " or ".join(sorted(expected.kinds))


def _found(tool: Tool, kind: str | None = None) -> int:
    return sum(
        record.is_found(one)
        for record in tool.values()
        for one in record.truth.expected
        if kind in (None, _kind(one))
    )


def _clean(tool: Tool) -> int:
    """Programs without a fault of which nothing was told."""
    return sum(not record.truth.expected and not record.false for record in tool.values())


def _false(tool: Tool) -> int:
    """Different things that are not true, over all runs."""
    return sum(len(record.false) for record in tool.values())


def exceptions(tool: Tool) -> str:
    """What `check` did not find in every run, and what it told that is not true."""
    rows = [row for record in tool.values() for row in _exceptions_of(record)]
    if not rows:
        return "Everything was found with every seed, and nothing else was told."
    return table(["program", "what", "seeds"], rows)


def _exceptions_of(record: Record) -> Iterator[list[str]]:
    name = record.truth.name
    for one in record.truth.expected:
        count = record.found[one.words]
        if count < record.runs:
            words = f"found: {one.words}" if record.is_found(one) else f"**found**: {one.words}"
            yield [name, words, f"{count} of {record.runs}"]
    for told, count in record.false.items():
        yield [name, f"**false**: {told}", f"{count} of {record.runs}"]
    for words in record.broken:
        yield [name, f"**broken**: {words.splitlines()[0]}", "1"]


# --- running


def measured(options: argparse.Namespace, chosen: list[Truth]) -> dict[str, Tool]:
    """Every tool on every program."""
    seeds = random.Random(options.master).sample(range(1 << 31), options.seeds)  # noqa: S311
    with ProcessPoolExecutor(options.jobs) as pool:
        check: Work = partial(ours, seeds=seeds, seconds=options.seconds)
        check = partial(_kept, folder=_folder(options, "check"), work=check)
        tools = {"check": _each(pool.map(check, chosen), "check")}
        for rival in rivals() if options.rivals else []:
            work: Work = partial(theirs, rival=rival, seconds=options.seconds)
            work = partial(_kept, folder=_folder(options, rival.name), work=work)
            tools[rival.name] = _each(pool.map(work, chosen), rival.name)
    return tools


def _folder(options: argparse.Namespace, tool: str) -> Path | None:
    """Where what this tool shows is kept, for this very question."""
    question = f"{tool}-{options.master}-{options.seeds}-{options.seconds:g}"
    return options.keep / question if options.keep else None


def _kept(truth: Truth, folder: Path | None, work: Work) -> Record:
    """What an earlier run of the benchmark, that was broken off, has shown already."""
    if folder is None:
        return work(truth)
    path = folder / f"{truth.name}.json"
    if path.exists():
        told = json.loads(path.read_text(encoding="utf-8"))
        counts = {name: Counter(told[name]) for name in ("found", "false")}
        return Record(truth, runs=told["runs"], broken=told["broken"], **counts)
    record = work(truth)
    folder.mkdir(parents=True, exist_ok=True)
    told = {name: getattr(record, name) for name in ("runs", "found", "false", "broken")}
    path.write_text(json.dumps(told), encoding="utf-8")
    return record


def _each(records: Iterator[Record], name: str) -> Tool:
    tool: Tool = {}
    for record in records:
        progress(f"{name}: {record.truth.name}")
        tool[record.truth.name] = record
    return tool


def _chosen(names: list[str]) -> list[Truth]:
    every = {truth.name: truth for truth in truths()}
    if unknown := sorted(set(names) - every.keys()):
        raise UsageError(f"there is no program {', '.join(unknown)} in tests/programs")
    return [every[name] for name in names] or list(every.values())


def main() -> None:
    """Measure, and put the tables into the page."""
    parser = arguments(__doc__ or "")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"(default: {SEEDS})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"each ({SECONDS:g})")
    parser.add_argument("--master", type=int, default=MASTER, help="seed that seeds come from")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default: 1)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="what is done already: to go on after a break"
    )
    parser.add_argument("--no-rivals", dest="rivals", action="store_false", help="check alone")
    options = parser.parse_args()
    watch = Watch()
    chosen = _chosen(options.programs)
    tools = measured(options, chosen)
    told = (
        f"{watch.told()} {len(chosen)} programs; {options.seeds} seeds of master seed "
        f"{options.master}, {options.seconds:g} s each, {options.jobs} at a time.\n\n"
    )
    text = f"{told}{summary(tools)}\n\n{exceptions(tools['check'])}"
    published(text, "corpus", options.write)


if __name__ == "__main__":
    started(main)
