# SPDX-License-Identifier: Apache-2.0
"""`eitherway judge`: run both orders of races that were found, and say what each does."""

import argparse

from eitherway.cli import arguments, findings_list, kept, output, running, specifications
from eitherway.cli.progress import Line
from eitherway.judge.experiment import CONTINUATIONS

HELP = "run both orders of the races that were found; tell what the other order does"
HANGS = 30.0  # seconds of one branch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="findings that `check` kept, by id or how it begins (default: unjudged races)",
    )
    parser.add_argument(
        "--continuations",
        type=arguments.count,
        default=CONTINUATIONS,
        metavar="N",
        help=f"ways to go on after the two, of each order (default: {CONTINUATIONS})",
    )
    arguments.add_jobs(parser, "branches that run at a time")
    specifications.add_arguments(parser)
    running.add_time(parser)
    parser.set_defaults(timeout=HANGS)
    findings_list.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Judge, keep, report."""
    # late: NumPy comes with these
    from eitherway.find import saved
    from eitherway.find.judging import Judging, is_open, judge_all
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.course import Plan
    from eitherway.worlds.threads.launch import fix_addresses

    plan = findings_list.plan_of(args)
    store = Store.default(tell=output.say)
    known = saved.known(store)
    wanted = kept.named(known, args.ids) if args.ids else list(filter(is_open, kept.some(known)))
    wanted.sort(key=lambda finding: finding.evidence)
    course, fixed = Plan(timeout=args.timeout), fix_addresses()
    specification = specifications.specification_of(args)
    with (
        Judging(
            store,
            plan=course,
            fixed=fixed,
            continuations=args.continuations,
            jobs=args.jobs,
            specification=specification,
            rules=specifications.rules_of(args, specification),
        ) as judging,
        Line() as line,
    ):
        judged, notes = judge_all(judging, wanted, line.show)
    saved.replace(store, judged)
    told = {finding.id: finding for finding in (*wanted, *judged)}
    result = findings_list.result_of(plan, told.values(), notes)
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    if result.findings and result.findings[0].replay:
        output.say(f"next: {result.findings[0].replay}")
    return result.exit_code
