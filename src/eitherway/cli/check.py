# SPDX-License-Identifier: Apache-2.0
"""`eitherway check`: run a program many ways, and tell what its threads race on."""

import argparse
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from eitherway.cli import arguments, findings_list, output, running, specifications, trees
from eitherway.cli.progress import Line
from eitherway.errors import Exit, UsageError
from eitherway.findings.merge import stamped

if TYPE_CHECKING:
    from eitherway.find.explaining import Explained
    from eitherway.find.progress import Progress
    from eitherway.find.saved import Held
    from eitherway.find.specification import Specification
    from eitherway.model.finding import Finding
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.course import Plan
    from eitherway.worlds.threads.launch import Launch
    from eitherway.worlds.threads.program import Program

HELP = "run a program under many schedules; tell races, deadlocks and failures"
SECONDS = 10.0
HANGS = 30.0  # seconds of one run
_USE = "eitherway check -- ./program ARGS"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    running.add_budget(parser, SECONDS, of_trees=trees.SECONDS)
    parser.add_argument(
        "--scheduler",
        metavar="NAME",
        action="append",
        default=[],
        help="only schedules of this policy: random-walk, pct, pos, surw, round-robin, "
        "depth-first; pct:depth=3 gives a parameter (may be repeated; default: a mix)",
    )
    arguments.add_jobs(parser, "fork servers, or branches of processes, at work at a time")
    parser.add_argument(
        "--stop-at-first", action="store_true", help="stop as soon as something is found"
    )
    parser.add_argument(
        "--judge",
        action=argparse.BooleanOptionalAction,
        help="run both orders of the data races, however long that takes, or not at all "
        f"(default: no more after as long again, or {SECONDS:g} seconds)",
    )
    specifications.add_arguments(parser)
    trees.add_world(parser)
    trees.add_redact(parser)
    trees.add_keep(parser, "races are found, and no other order is run")
    running.add_time(parser)
    running.add_driver(parser)
    findings_list.add_arguments(parser)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- CMD ARGS", help="the program to run"
    )


def run(args: argparse.Namespace) -> int:
    """Which world it is, and what is wanted there."""
    # late: NumPy comes with these
    from eitherway.find import saved
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.launch import Launch, program_here
    from eitherway.worlds.threads.program import classify

    plan = findings_list.plan_of(args)
    course = running.plan_of(args)
    course = replace(course, show_driver=None, timeout=course.timeout or HANGS)
    specification = specifications.specification_of(args)
    launch = Launch.here(running.command_of(args.command, _USE), *running.stdin_for_many())
    program = classify(program_here(launch))
    apart = trees.are_meant(args.world, program)
    if not apart and (problem := program.problem()):
        raise problem
    store = Store.default(tell=output.say)
    store.prepare()
    if apart:
        asked = ("checker", "expect_output", "expect_same")
        trees.refuse_beside_keep(args, **{name: getattr(args, name) for name in asked})
        return trees.check(args, plan, launch, store, specifications.rules_of(args, specification))
    trees.refuse_options_of(args)
    if args.keep:
        raise UsageError("--keep is one run, and schedules are many; --world processes")
    if args.expect_same:
        raise UsageError("--expect-same is about the files of processes", fix="--world processes")
    output.say(f"the threads of {launch.command[0]}: {_instrumented(program)}")
    check = _Check(args, launch, store, course, specification)
    progress = check.searched()
    held = saved.hold(store, _stamped(progress))
    if args.judge is not False:
        check.judge_and_explain(progress, held)
    else:
        check.try_wake_ups(progress)
    result = _deliver(plan, progress, _notes(progress, program))
    if held.ids:
        _tell_kept(saved.add(store, result.findings, held), result, progress)
    code = result.exit_code
    if progress.in_vain and code == Exit.OK:
        code = Exit.INCONCLUSIVE
    return running.code_of(code, progress.interrupted)


@dataclass(frozen=True, slots=True)
class _Check:
    """One check of the threads of a program."""

    args: argparse.Namespace
    launch: "Launch"
    store: "Store"
    course: "Plan"
    specification: "Specification"

    @property
    def seconds(self) -> float | None:
        """For the schedules; None when their number is given."""
        given: float | None = self.args.seconds
        return given or (None if self.args.schedules else SECONDS)

    def searched(self) -> "Progress":
        """Schedules within the budget, those that are known to show something first."""
        from eitherway.find.known import Known
        from eitherway.find.progress import Budget
        from eitherway.find.search import Search
        from eitherway.worlds.threads.launch import fix_addresses
        from eitherway.worlds.threads.policies import MIX, chosen, turns

        known = Known(self.launch, self.store)
        budget = Budget(self.args.schedules, self.seconds, self.args.stop_at_first)
        mix = [chosen(text) for text in self.args.scheduler] or MIX
        with (
            Search(
                self.launch,
                self.store,
                plan=self.course,
                fixed=fix_addresses(),
                jobs=self.args.jobs,
                places=known.places,
            ) as search,
            Line() as line,
        ):
            progress = search.run(
                turns(self.args.seed, mix),
                budget,
                lambda now: line.show(_short(now)),
                first=known.runs(),
            )
        known.add(search.recordings)
        known.add_places(progress.places)
        return progress

    def judge_and_explain(self, progress: "Progress", held: "Held") -> None:
        """What was found has its class then, and what failed the pair that decides."""
        from eitherway.worlds.threads.launch import fix_addresses

        fixed, seconds = fix_addresses(), self.seconds or SECONDS
        until = monotonic() + seconds
        _judge(
            progress,
            self.store,
            held,
            self.course,
            None if self.args.judge else seconds,
            fixed=fixed,
            jobs=self.args.jobs,
            specification=self.specification,
        )
        self._explain(progress, until, seconds)

    def try_wake_ups(self, progress: "Progress") -> None:
        """Those that could be lost by what a trace has are run, also where nothing is judged."""
        seconds = self.seconds or SECONDS
        self._explain(progress, monotonic() + seconds, seconds, feared=True)

    def _explain(
        self, progress: "Progress", until: float, more: float, *, feared: bool = False
    ) -> None:
        """What failed is told with the pair that decides, in the time that judging left.

        `feared`: only what no run has shown is looked at, and whether it is not so.
        """
        from eitherway.find.explaining import (
            Refuted,
            explain_all,
            explaining,
            is_feared,
            is_open,
            refuted_all,
        )
        from eitherway.find.failures import without_repeats
        from eitherway.worlds.threads.launch import fix_addresses

        wanted = list(filter(is_feared if feared else is_open, progress.findings.values()))
        fixed = fix_addresses()
        if not wanted or progress.interrupted or not fixed or self.course.driver:
            return
        told: list[Explained | Refuted] = []
        try:
            with (
                Line() as line,
                running.apart(self.launch) as box,
                explaining(
                    self.launch, box, self.store, self.course, fixed=fixed, tell=line.show
                ) as explainer,
            ):
                told += (
                    refuted_all(explainer, wanted, until, more)
                    if feared
                    else explain_all(explainer, wanted, self.store, until, more)
                )
        except KeyboardInterrupt as interrupt:
            progress.interrupted = interrupt
        for one in told:
            if isinstance(one, Refuted):
                del progress.findings[one.finding.id]
                progress.notes.append(str(one))
            else:
                worse = list(one.worse(progress.findings.values()))
                progress.findings.update((each.id, each) for each in (one.finding, *worse))
        progress.findings = without_repeats(progress.findings)


def _tell_kept(count: int, result: findings_list.Result, progress: "Progress") -> None:
    if not result.findings:
        return
    kept = "1 finding is kept" if count == 1 else f"{count} findings are kept"
    output.say(f"{kept}; `eitherway races` lists them")
    first = result.findings[0]
    if token := progress.tokens.get(first.id):
        output.say(f"token of the first: {token}")
    if first.replay:  # what there was no time to confirm has no recording
        output.say(f"next: {first.replay}")


def _judge(
    progress: "Progress",
    store: "Store",
    held: "Held",
    course: "Plan",
    seconds: float | None,
    *,
    fixed: bool,
    jobs: int,
    specification: "Specification",
) -> None:
    """What was found has its class then, and each is kept as soon as it has."""
    from eitherway.find import saved
    from eitherway.find.judging import Judging, is_open, judge_all
    from eitherway.judge.experiment import CONTINUATIONS

    wanted = list(filter(is_open, progress.findings.values()))
    if not wanted or progress.interrupted:
        return

    def keep(finding: "Finding") -> None:
        progress.findings[finding.id] = finding
        saved.add(store, _stamped(progress), held)

    with (
        Judging(
            store,
            plan=course,
            fixed=fixed,
            continuations=CONTINUATIONS,
            jobs=jobs,
            specification=specification,
        ) as judging,
        Line() as line,
    ):
        judged = judge_all(judging, wanted, line.show, seconds, keep)
    progress.notes.extend(judged.notes)
    progress.interrupted = judged.interrupted


def _short(progress: "Progress") -> str:
    failing = len(progress.endings.failures())
    return (
        f"{progress.schedules:,} schedules ({len(progress.different):,} different), "
        f"{len(progress.findings)} findings, {failing} ways to fail, {progress.coverage}"
    )


def _instrumented(program: "Program") -> str:
    note = program.note
    if note is None or not note.code:
        return "how much of its code is instrumented is not known"
    return f"{note.instrumented / note.code:.0%} of its code is instrumented"


def _notes(progress: "Progress", program: "Program") -> list[str]:
    """What was tried: this is what "nothing found" means."""
    bounds = (
        f"{_instrumented(program)}; memory is taken to be sequentially consistent; other input may "
        "show other races"
    )
    isolated = f"isolated by {progress.isolation}"
    return [*_tried(progress), *_covered(progress), bounds, isolated, *progress.notes]


def _tried(progress: "Progress") -> list[str]:
    several = (
        f"{progress.schedules:,} schedules, {len(progress.different):,} of them different, "
        f"{_outputs(len(progress.outputs))}"
    )
    ran = f"{'1 schedule' if progress.schedules == 1 else several}; {progress.endings.told()}"
    late = "the time was over before {} came to its end; --seconds gives it longer"
    which = "the first schedule" if not progress.schedules else "the last schedule"
    told = [ran] if progress.schedules else []
    return [*told, late.format(which)] if progress.cut_off else told


def _covered(progress: "Progress") -> list[str]:
    """How much of what there is to try."""
    pairs = f"of the operations that met, {progress.coverage}"
    return [line for line in (progress.space, pairs if progress.coverage.pairs else "") if line]


def _outputs(count: int) -> str:
    return "all with the same output" if count == 1 else f"with {count:,} different outputs"


def _stamped(progress: "Progress") -> list["Finding"]:
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [stamped(finding, when) for finding in progress.findings.values()]


def _deliver(
    plan: findings_list.Plan, progress: "Progress", notes: list[str]
) -> findings_list.Result:
    result = findings_list.result_of(plan, _stamped(progress), notes)
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    return result
