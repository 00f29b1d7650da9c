# SPDX-License-Identifier: Apache-2.0
"""`eitherway verify`: is a finding still there in the program as it is built now?"""

import argparse
import os
from typing import TYPE_CHECKING

from eitherway.cli import findings_list, kept, output, running
from eitherway.cli.progress import Line
from eitherway.errors import Exit

if TYPE_CHECKING:
    from eitherway.find.progress import Progress
    from eitherway.find.search import Search
    from eitherway.find.verified import Still
    from eitherway.model.finding import Finding

HELP = "look whether a finding is still there after the program was changed"
SECONDS = 10.0
HANGS = 30.0  # seconds of one run
TAKES_COMMAND = True
_NAMED = 3  # other findings
_USE = "eitherway verify ID -- ./program ARGS"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb; `command` is the program to run."""
    parser.usage = "eitherway verify ID [options] -- CMD ARGS"
    parser.add_argument(
        "id", metavar="ID", help="the finding, that `check` kept, by its id or how it begins"
    )
    running.add_budget(parser, SECONDS)
    running.add_time(parser)
    running.add_driver(parser)
    parser.set_defaults(timeout=HANGS)
    findings_list.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when it is gone, 1 when it is still there, 2 when nothing can be said."""
    # late: NumPy comes with these
    from eitherway.find import saved
    from eitherway.find.progress import Budget
    from eitherway.find.search import Search
    from eitherway.find.verified import Still, again, verify
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.launch import Launch, fix_addresses, program_here
    from eitherway.worlds.threads.policies import turns
    from eitherway.worlds.threads.program import classify

    plan = findings_list.plan_of(args)
    store = Store.default(tell=output.say)
    finding = kept.one(kept.some(saved.known(store)), args.id)
    launch = Launch.here(running.command_of(args.command, _USE), *running.stdin_for_many())
    if problem := classify(program_here(launch)).problem():
        raise problem
    seconds = args.seconds or (None if args.schedules else SECONDS)
    budget = Budget(args.schedules, seconds, wanted=finding.id)
    course, jobs = running.plan_of(args), len(os.sched_getaffinity(0))
    fixed = fix_addresses()
    with Search(launch, store, plan=course, fixed=fixed, jobs=jobs) as search, Line() as line:
        still = verify(
            finding, search, turns(args.seed), budget, lambda now: line.show(f"{now.schedules:,}")
        )
        there = again(finding, search)
        notes = [_words(still, finding, there, search), *_others(finding, there, search)]
    seen = [there] if there else []
    result = findings_list.result_of(plan, seen, notes)
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    return Exit.INCONCLUSIVE if still is Still.NOT_REACHED else result.exit_code


def _others(finding: "Finding", there: "Finding | None", search: "Search") -> list[str]:
    """What else was seen on the way: whoever mends one thing may break another."""
    from eitherway.model.identity import headline

    same = {finding.id, there.id if there else finding.id}
    others = [other for other in search.progress.findings.values() if other.id not in same]
    notes = [f"another was seen: {other.id}, {headline(other)}" for other in others[:_NAMED]]
    more = len(others) - len(notes)
    return [*notes, f"{more} more were seen: eitherway check"] if more > 0 else notes


def _words(still: "Still", finding: "Finding", there: "Finding | None", search: "Search") -> str:
    from eitherway.find.verified import Still, missing

    tried = _tried(search.progress)
    if there is not None:
        return f"{finding.id} is still there{_name(finding, there)}: {tried}"
    if still is Still.GONE:
        return f"{finding.id} is gone: it was not seen in {tried}"
    if search.progress.in_vain:
        why = "the driver failed" if search.progress.schedules else "the time was over"
        return f"nothing can be said of {finding.id}: {why} in every schedule"
    where = ", ".join(missing(finding, search))
    return f"{finding.id} is no longer reached: the program was not in {where}, in {tried}"


def _name(finding: "Finding", there: "Finding") -> str:
    """As what it is known now, and why, if that is not the same."""
    from eitherway.model.identity import objects, sides

    if there.id == finding.id:
        return ""
    moved = sides(there) != sides(finding) or objects(there) == objects(finding)
    why = "its file has another name" if moved else "it fails in the same way in the same function"
    return f", now as {there.id}: {why}"


def _tried(progress: "Progress") -> str:
    count = f"{progress.schedules:,} schedule{'' if progress.schedules == 1 else 's'}"
    different = f"{count}, {len(progress.different):,} of them different"
    return f"{different}; {progress.space}" if progress.space else different
