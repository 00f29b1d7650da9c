# SPDX-License-Identifier: Apache-2.0
"""`eitherway judge`: run both orders of races that were found, and say what each does."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eitherway.cli import arguments, findings_list, kept, output, races, running, specifications
from eitherway.cli.progress import Line
from eitherway.judge.experiment import CONTINUATIONS
from eitherway.model.finding import Finding

if TYPE_CHECKING:
    from eitherway.recording.store import Store

HELP = "run both orders of the races that were found; tell what the other order does"
HANGS = 30.0  # seconds of one branch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="ID|RECORDING",
        help="findings that `check` kept, by id or how it begins, or recordings, of which all "
        "races are judged (default: unjudged races that were kept)",
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
    from eitherway.find.judging import Judging, judge_all
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.course import Plan
    from eitherway.worlds.threads.launch import fix_addresses

    plan = findings_list.plan_of(args)
    store = Store.default(tell=output.say)
    wanted = sorted(_wanted(args.what, store), key=lambda finding: finding.evidence)
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
        judged = judge_all(
            judging, wanted, line.show, keep=lambda finding: saved.replace(store, [finding])
        )
    told = {finding.id: finding for finding in (*wanted, *judged.findings)}
    result = findings_list.result_of(plan, told.values(), judged.notes)
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    if result.findings and result.findings[0].replay:
        output.say(f"next: {result.findings[0].replay}")
    return running.code_of(result.exit_code, judged.interrupted)


def _wanted(names: Sequence[str], store: "Store") -> list[Finding]:
    """Each once, whether it is named itself or seen in a recording that is."""
    from eitherway.find import saved  # late: as above
    from eitherway.find.judging import is_open

    known = saved.known(store)
    if not names:
        return list(filter(is_open, kept.some(known)))
    found: dict[str, Finding] = {}
    for name in dict.fromkeys(names):
        is_id = name.startswith("EW-")
        seen = [kept.one(kept.some(known), name)] if is_id else _seen(name)
        found |= {finding.id: finding for finding in seen}
    return list(found.values())


def _seen(recording: str) -> list[Finding]:
    """The races of one run that can be judged."""
    from eitherway.find.judging import is_open  # late: as above

    asked = argparse.Namespace(recording=recording, incomplete=False, again=False, guesses=False)
    findings, _, _ = races.detected(asked)
    return list(filter(is_open, findings))
