# SPDX-License-Identifier: Apache-2.0
"""`eitherway explain`: the fewest switches that do the same, and the pair whose order decides."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from eitherway.cli import arguments, findings_list, kept, output, running
from eitherway.cli.progress import Line
from eitherway.model.finding import Finding

if TYPE_CHECKING:
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.recorded import Recorded

HELP = "shorten the schedule of a failure; tell the two operations whose order decides"
SECONDS = 20.0
HANGS = 30.0  # seconds of one run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "what",
        nargs="?",
        metavar="ID|RECORDING",
        help="a finding that `check` kept, by id or how it begins, or a recording (default: the "
        "first finding that `eitherway races` lists)",
    )
    parser.add_argument(
        "--seconds",
        type=arguments.seconds,
        default=SECONDS,
        metavar="N",
        help=f"how long to look for a shorter schedule (default: {SECONDS:g})",
    )
    running.add_time(parser)
    parser.set_defaults(timeout=HANGS)
    findings_list.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Explain, keep, report."""
    # late: NumPy comes with these
    from eitherway.find import saved
    from eitherway.find.explaining import explained, explaining
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.course import Plan
    from eitherway.worlds.threads.launch import fix_addresses
    from eitherway.worlds.threads.recorded import Recorded, save

    plan = findings_list.plan_of(args)
    store = Store.default(tell=output.say)
    if tree := _tree(args.what, store):
        return _explain_tree(plan, tree, store)
    finding, recorded = _what(args.what, store)
    plan_of_runs, fixed, launch = Plan(timeout=args.timeout), fix_addresses(), recorded.launch
    with (
        Line() as line,
        running.apart(launch) as box,
        explaining(launch, box, store, plan_of_runs, fixed=fixed, tell=line.show) as explainer,
    ):
        finding = finding or explainer.finding_of(recorded.ran)
        told = explained(
            finding,
            recorded.ran,
            explainer,
            lambda ran: save(Recorded(recorded.launch, ran), store),
            args.seconds,
        )
    shown = [told.finding, *told.worse(saved.known(store))]
    saved.replace(store, shown)
    result = findings_list.result_of(plan, shown, [])
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    output.say(f"next: {told.finding.replay}")
    return result.exit_code


def _tree(name: str | None, store: "Store") -> Finding | None:
    """The finding that is meant, if it is one of processes."""
    from eitherway.find import saved
    from eitherway.model.words import World

    known = saved.known(store)
    if not known or (name and not name.startswith("EW-")):
        return None
    finding = kept.one(known, name) if name else known[0]
    return finding if finding.world is World.PROCESSES else None


def _explain_tree(plan: findings_list.Plan, finding: Finding, store: "Store") -> int:
    """Both orders are run once more: what each does is told with the two commands."""
    from eitherway.find import saved
    from eitherway.find.tree_judge import CONTINUATIONS
    from eitherway.find.tree_kept import TreeJudging
    from eitherway.find.tree_rules import Rules

    told = TreeJudging(store, Rules(), CONTINUATIONS).judged(finding)
    saved.replace(store, [told])
    result = findings_list.result_of(plan, [told], [])
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    if told.replay:
        output.say(f"next: {told.replay}")
    return result.exit_code


def _what(name: str | None, store: "Store") -> "tuple[Finding | None, Recorded]":
    """The finding, where it is one, and the run that shows it."""
    from eitherway.find import saved
    from eitherway.find.judging import recorded_at, recorded_of

    known = saved.known(store)
    if name and not name.startswith("EW-"):
        path = Path(name) if "/" in name else store.find(name)
        shown = (finding for finding in known if Path(finding.evidence) == path)
        return next(shown, None), recorded_at(path)
    finding = kept.one(known, name) if name else kept.some(known)[0]
    return finding, recorded_of(finding)
