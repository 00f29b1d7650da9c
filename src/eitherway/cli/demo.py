# SPDX-License-Identifier: Apache-2.0
"""`eitherway demo`: what works today, done on a shipped example while you look."""

import argparse
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from eitherway.cli import arguments
from eitherway.cli.output import say
from eitherway.installed import native

if TYPE_CHECKING:
    from eitherway.worlds.threads.launch import Launch
    from eitherway.worlds.threads.run import Ran

HELP = "run a shipped example under many schedules; tell its race and what both orders do"

SCHEDULES = 300
REPLAYS = 10
FOLDER = "eitherway-demo"
PAGE = "report.html"
HANGS = 30.0  # seconds of one branch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "--seed",
        type=arguments.seed,
        default=0,
        metavar="N",
        help="first seed of the schedules (default: 0)",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help=f"run {FOLDER}/bank.c as you have changed it",
    )


def run(args: argparse.Namespace) -> int:
    """Build, run many ways, replay one, find the race in it and run both its orders."""
    # late: NumPy comes with these
    from eitherway.worlds.threads.build import build
    from eitherway.worlds.threads.launch import Launch, fix_addresses

    fixed = fix_addresses()
    source = _copied(native("examples/bank.c"), keep=args.keep)
    program = source.with_suffix("")
    print("1. The program: two tellers pay in 6 times 10; they share a balance, not a lock.\n")
    print("\n".join(f"   {line}" for line in _excerpt(source)))
    build(source, program)
    launch = Launch.here([str(program)])
    path = _replay_and_record(launch, _run_many(launch, args.seed))
    print("\n4. What races, found by happens-before in the trace of that one run, and what both")
    print("   orders of it do, each run on from there in many ways:\n", flush=True)
    _report(path, fixed=fixed)
    print(f"\nThe program stays in {FOLDER}/, its run in {path}.")
    print(f"look: {FOLDER}/{PAGE} in a browser shows what each thread did, in time")
    print("next: eitherway replay --gdb, or mend the program and eitherway demo --keep")
    return 0


def _copied(source: Path, *, keep: bool) -> Path:
    """The user's own copy, to look at and to change."""
    from eitherway.recording.files import writing

    target = Path(FOLDER) / source.name
    with writing(target):
        target.parent.mkdir(exist_ok=True)
        if not (keep and target.exists()):
            shutil.copyfile(source, target)
    return target


def _excerpt(source: Path) -> list[str]:
    lines = source.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if "deposit(long" in line)
    return [f"{n:>3}  {line}" for n, line in enumerate(lines[start : start + 5], start + 1)]


def _run_many(launch: "Launch", first: int) -> "Ran":
    """Run schedule after schedule; the first run that printed what was printed least often."""
    from eitherway.sandbox.box import Sandbox
    from eitherway.worlds.threads.explorer import Explorer

    runs: dict[int, Ran] = {}
    seen: Counter[int] = Counter()
    with Sandbox(require=()) as box, Explorer(launch, box, threads=2) as explorer:
        rows = explorer.survey(range(first, first + SCHEDULES))
        for number, seed in enumerate(rows["seed"].tolist()):
            key = int(rows["out_hash"][number])
            seen[key] += 1
            if key not in runs:
                runs[key] = explorer.run(seed=seed)
        isolation = box.isolation
    print(f"\n2. The same program, {SCHEDULES} schedules: what it printed, and how often.")
    print(f"   (isolated by {isolation})\n")
    for key, count in seen.most_common():
        output = runs[key].out.beginning.decode(errors="replace").strip()
        print(f"   {count:>4}  {output}")
    if len(seen) == 1:
        print("\n   All printed the same.")
    rarest = seen.most_common()[-1][0]
    return runs[rarest]


def _replay_and_record(launch: "Launch", odd: "Ran") -> Path:
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.recorded import Recorded, save
    from eitherway.worlds.threads.run import run as run_once
    from eitherway.worlds.threads.traced import Depth, TraceRequest, traced

    again = [run_once(launch, replay=odd) for _ in range(REPLAYS)]
    same = sum(not ran.differences(odd) for ran in again)
    switches = len(odd.schedule.switches)
    print(
        f"\n3. The first with the rarest output, {switches} switches, done again {REPLAYS} times:"
    )
    print(f"   {same} of {REPLAYS} were the same to the bit: output, steps, schedule, input.")
    recorded = Recorded(launch, odd)
    trace, _ = traced(recorded, TraceRequest(Depth.VALUES))
    return save(recorded, Store.default(tell=say), trace)


def _report(path: Path, *, fixed: bool) -> None:
    from eitherway.cli import findings_list, races
    from eitherway.find.judging import Judging, judge_all
    from eitherway.judge.experiment import CONTINUATIONS
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.course import Plan

    parser = argparse.ArgumentParser()
    races.add_arguments(parser)
    words = [str(path), "--fail-on", "none", "--report", f"html={FOLDER}/{PAGE}"]
    args = parser.parse_args(words)
    plan = findings_list.plan_of(args)
    found, notes, _ = races.detected(args)
    course = Plan(timeout=HANGS)
    with Judging(
        Store.default(tell=say), plan=course, fixed=fixed, continuations=CONTINUATIONS
    ) as judging:
        judged = judge_all(judging, found, lambda _: None)
    if judged.interrupted:
        raise judged.interrupted
    result = findings_list.result_of(plan, judged.findings, [*notes, *judged.notes])
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
