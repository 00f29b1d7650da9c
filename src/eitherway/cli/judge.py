# SPDX-License-Identifier: Apache-2.0
"""`eitherway judge`: run both orders of races that were found, and say what each does."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eitherway.cli import arguments, findings_list, output, running
from eitherway.cli.progress import Line
from eitherway.errors import Problem, UsageError
from eitherway.model.finding import Finding
from eitherway.model.words import Class, Kind

if TYPE_CHECKING:
    from eitherway.find.judging import Judging

HELP = "run both orders of the races that were found; tell what the other order does"
HANGS = 30.0  # seconds of one branch
_CONTINUATIONS = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="findings that `check` kept, by id or how it begins (default: unjudged data races)",
    )
    parser.add_argument(
        "--continuations",
        type=arguments.count,
        default=_CONTINUATIONS,
        metavar="N",
        help=f"ways to go on after the two, of each order (default: {_CONTINUATIONS})",
    )
    running.add_time(parser)
    parser.set_defaults(timeout=HANGS)
    findings_list.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Judge, keep, report."""
    # late: NumPy comes with these
    from eitherway.find import saved
    from eitherway.find.judging import Judging
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.course import Plan
    from eitherway.worlds.threads.launch import fix_addresses

    plan = findings_list.plan_of(args)
    store = Store.default(tell=output.say)
    wanted = _wanted(saved.known(store), args.ids)
    course = Plan(timeout=args.timeout)
    with Judging(
        store, plan=course, fixed=fix_addresses(), continuations=args.continuations
    ) as judging:
        judged, notes = _judged(judging, wanted)
    saved.replace(store, judged)
    result = findings_list.result_of(plan, judged, notes)
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    if result.findings and result.findings[0].replay:
        output.say(f"next: {result.findings[0].replay}")
    return result.exit_code


def _wanted(findings: Sequence[Finding], ids: Sequence[str]) -> list[Finding]:
    if not findings:
        raise UsageError("nothing was found so far", fix="eitherway check -- ./program ARGS")
    if not ids:
        open_ = [f for f in findings if f.kind is Kind.DATA_RACE and f.klass is Class.UNJUDGED]
        return sorted(open_, key=lambda finding: finding.evidence)
    return [_named(findings, name) for name in dict.fromkeys(ids)]


def _named(findings: Sequence[Finding], name: str) -> Finding:
    matching = [finding for finding in findings if finding.id.startswith(name)] if name else []
    if len(matching) != 1:
        count = "several findings begin" if matching else "no finding begins"
        raise UsageError(f"{count} with '{name}'", fix="eitherway races")
    return matching[0]


def _judged(judging: "Judging", wanted: Sequence[Finding]) -> tuple[list[Finding], list[str]]:
    """What cannot be judged stays as it is, and is told."""
    judged: list[Finding] = []
    notes: list[str] = []
    with Line() as line:
        for number, finding in enumerate(wanted, 1):
            line.show(f"{number} of {len(wanted)}: {finding.id}")
            try:
                judged.append(judging.judged(finding))
            except Problem as problem:
                judged.append(finding)
                notes.append(f"{finding.id} is not judged: {problem.message}")
    tried = f"{len(judged) - len(notes)} of {len(wanted)} findings were judged"
    return judged, [tried, *notes]
