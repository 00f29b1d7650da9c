# SPDX-License-Identifier: Apache-2.0
"""The verbs on process trees: what `check`, `record` and `replay` do in the processes world."""

import argparse
import os
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from eitherway.cli import findings_list, output, running
from eitherway.cli.progress import Line
from eitherway.errors import Exit, Unavailable, UsageError
from eitherway.findings.merge import stamped
from eitherway.model.text import counted

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Mapping

    from eitherway.find.tree_rules import Rules
    from eitherway.find.trees import Checked, TreeSearch
    from eitherway.judge.why import Why
    from eitherway.recording.read import Recording
    from eitherway.recording.store import Store
    from eitherway.sandbox.box import Sandbox
    from eitherway.worlds.processes.log import Ending, Log
    from eitherway.worlds.threads.launch import Launch
    from eitherway.worlds.threads.program import Program

WORLDS = ("threads", "processes")
RECORDERS = ("ptrace", "bpf")
SECONDS = 30.0


def add_world(parser: argparse.ArgumentParser) -> None:
    """Which world."""
    parser.add_argument(
        "--world",
        choices=WORLDS,
        help="what is put in order: the threads of a program, also of those that a script or make "
        "starts when threads is given; or the processes of a tree (default: threads of a program "
        "that eitherway cc built, else processes)",
    )


def add_recorder(parser: argparse.ArgumentParser) -> None:
    """Who writes a tree down."""
    parser.add_argument(
        "--recorder",
        choices=RECORDERS,
        default=RECORDERS[0],
        help="of processes: ptrace stops every call, one at a time, so that the run can be done "
        "again; bpf only looks on, at a small part of the cost, as calls come: races can be found "
        "in it, and it cannot be replayed (default: ptrace)",
    )


def add_redact(parser: argparse.ArgumentParser) -> None:
    """What a recording must not hold."""
    parser.add_argument(
        "--redact",
        action="store_true",
        help="of processes: keep arguments, environment and data out of the recording; races can "
        "be found in it, and it cannot be replayed",
    )


def add_keep(parser: argparse.ArgumentParser, otherwise: str) -> None:
    """Where a recorded run takes place."""
    parser.add_argument(
        "--keep",
        action="store_true",
        help=f"of processes: a run like any other, whose files stay; it cannot be done again "
        f"({otherwise})",
    )


def refuse_beside_keep(args: argparse.Namespace, **given: object) -> None:
    """What a run among the user's own files cannot be."""
    for name, value in given.items():
        if args.keep and value:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"--keep is one run among your own files, as it comes: {option} has no place there"
            )


def refuse_options_of(args: argparse.Namespace) -> None:
    """Of a run that is about threads."""
    if args.redact:
        raise UsageError("--redact is for processes: --world processes")


def are_meant(asked: str | None, program: "Program") -> bool:
    """Whether a command is about processes; raises a Problem when it can be about neither."""
    from eitherway.worlds.threads.program import Kind

    ours = (Kind.OURS, Kind.OTHER_VERSION)
    if asked == "threads" or (asked is None and program.kind in ours):
        return False
    runs = (*ours, Kind.ORDINARY, Kind.OTHER_RUNTIME, Kind.STATIC, Kind.SCRIPT)
    if program.kind not in runs and (problem := program.problem()):
        raise problem
    return True


def check(
    args: argparse.Namespace,
    plan: findings_list.Plan,
    launch: "Launch",
    store: "Store",
    rules: "Rules",
) -> int:
    """Record a run, try both orders of what races in it, report."""
    from eitherway.find import saved
    from eitherway.find.trees import TreeSearch

    _refuse(
        driver=args.driver,
        scheduler=args.scheduler,
        schedules=args.schedules,
        seed=args.seed,
        stop_at_first=args.stop_at_first,
        judge=args.judge is True,
        no_judge=args.judge is False,
    )
    _say_world(launch)
    show = None if plan.takes_stdout else running.shown()
    with TreeSearch(
        launch,
        store,
        jobs=args.jobs,
        rules=rules,
        redact=args.redact,
        keep=args.keep,
        timeout=args.timeout,
    ) as search:
        _say_untried(search)
        with Line() as line:
            checked = search.check(args.seconds or SECONDS, line.show, show)
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    findings = [stamped(finding, when) for finding in checked.findings.values()]
    result = findings_list.result_of(plan, findings, _notes(checked))
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    if result.findings:
        saved.add(store, result.findings)
        output.say(f"next: {_next(checked, result)}")
    says_little = checked.refused or checked.unmet or checked.is_cut
    otherwise = Exit.INCONCLUSIVE if says_little else Exit.OK
    return running.code_of(result.exit_code or otherwise, checked.interrupted)


def _say_world(launch: "Launch") -> None:
    output.say(f"the processes of {launch.command[0]}; for threads, build with eitherway cc")


def _next(checked: "Checked", result: findings_list.Result) -> str:
    if checked.untried:
        return f"eitherway races {checked.recording.name}"
    return result.findings[0].replay or "eitherway races"


def _say_untried(search: "TreeSearch") -> None:
    """Before it runs: this is not what people are used to."""
    if search.untried:
        output.say(f"races are looked for, and no other order is run: {search.untried}")
    if search.on_own_files and not search.kept:
        output.say(
            "the command runs once, on your own files; `eitherway doctor --world processes` tells "
            "what adds the rest"
        )


def _notes(checked: "Checked") -> list[str]:
    """What was tried: this is what "nothing found" means."""
    ending = checked.ending
    cut = ending is not None and (ending.hangs or ending.endless or ending.late)
    how = "no end of its own" if cut else _ended(checked.status)
    ran = (
        f"the recorded run: {how}; {counted(checked.calls, 'system call')} of "
        f"{counted(checked.processes, 'process')}, as {counted(checked.operations, 'operation')} "
        "on files, directories, pipes and processes"
    )
    said = [*_unmet(checked), *_refused(checked), *_tried(checked)]
    notes = [ran, *said, f"isolated by {checked.isolation}"]
    if checked.covered:
        notes.append(
            f"{counted(checked.covered.total(), 'further race')}, inconclusive, of which nothing "
            f"came that is not told above: {_reasons(checked.covered)}"
        )
    if checked.parts:
        notes.append(
            f"{counted(checked.parts, 'further race')} of two calls among three that are told above"
        )
    notes += [
        f"left out: {counted(count, 'race')} of {what}" for what, count in checked.left_out.items()
    ]
    if checked.waits:
        waits = counted(checked.waits, "race")
        notes.append(f"cannot be tried: {waits} in which what one waits for is no call")
    if checked.ending:
        notes += _peculiar(checked.ending, serves=checked.serves)
    notes.append(
        "memory that processes share is not looked at, and threads of one process are taken to be "
        "in order; other input may show other races"
    )
    return notes


def _unmet(checked: "Checked") -> "Iterator[str]":
    if checked.unmet:
        yield f"the recorded run itself is not what is asked for: {'; '.join(checked.unmet)}"


def _refused(checked: "Checked") -> "Iterator[str]":
    if checked.refused:
        others = len(checked.refused) - 1
        more = f" and {counted(others, 'other name')}" if others else ""
        yield (
            f"the sandbox refused to change {checked.refused[0]}{more} (EOVERFLOW), which "
            "without it would have been done: owner or group is another one, so this says little "
            "of the command; `chgrp $(id -g) FILE` of your own files mends it, or run it as root"
        )


def _tried(checked: "Checked") -> "Iterator[str]":
    sorts = counted(checked.clusters, "sort")
    if checked.untried:
        yield (
            f"{counted(checked.races, 'race')} of {sorts}, the first of each told; none was tried: "
            f"{checked.untried}"
        )
        return
    unsure = f", {checked.unsure:,} inconclusive" if checked.unsure else ""
    yield (
        f"{counted(checked.races, 'race')}, {checked.tried:,} of them tried in "
        f"{counted(checked.branches, 'branch')}; in {checked.quiet:,} the order did not matter"
        f"{unsure}"
    )
    if checked.one_order.total():
        yield (
            f"in {checked.one_order.total():,} the other order could not be had: "
            f"{_reasons(checked.one_order)}"
        )
    if left := checked.races - checked.tried:
        yield (
            f"not tried in the time that there was: {counted(left, 'race')}, the first of each of "
            f"{sorts} before others; --seconds N"
        )


def _reasons(reasons: "Counter[Why]") -> str:
    """The most frequent first."""
    from eitherway.judge.why import PROCESSES

    words = [(why.told(PROCESSES), n) for why, n in reasons.most_common() if n]
    return "; ".join(f"{why} ({n:,})" if len(words) > 1 else why for why, n in words)


def told_of(log: "Log", *, looked_on: bool) -> "Iterator[str]":
    """What was not as in a run by itself, and what is not in its recording."""
    from eitherway.worlds.processes.serving import serves
    from eitherway.worlds.processes.streams import answered_in_memory

    yield from _peculiar(log.ending, serves=serves(log))
    if looked_on and (unseen := answered_in_memory(log)):
        yield (
            f"calls whose answers BPF does not see: {_counts(unseen)}; what "
            "they put in order may be told as a race"
        )


def _counts(calls: "Mapping[str, int]") -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in sorted(calls.items()))


def _peculiar(ending: "Ending", *, serves: bool) -> "Iterator[str]":
    if ending.calls_not_modelled:
        calls = _counts(ending.calls_not_modelled)
        yield f"calls that were made and have no meaning here: {calls}"
    if ending.late:
        yield (
            "it had come to no end in the time that it may take, and was ended; --timeout SECONDS "
            "sets another"
        )
    if ending.endless:
        yield (
            "it made call after call, came to no end, and was ended; --timeout SECONDS lets it go "
            "on for so long"
        )
    if ending.hangs and serves:
        yield (
            "it waits for who connects to it, nobody does, and it was ended; one command can run "
            "both: sh -c 'SERVER & CLIENT; kill $!'"
        )
    elif ending.hangs:
        yield "all of its processes slept, nothing could wake one, and it was ended"
    if ending.lost:
        yield f"{ending.lost:,} calls were lost: there was no room for them in time"
    if ending.not_followed:
        yield (
            f"{ending.not_followed:,} paths could not be followed: where they begin was gone, or "
            "they have more than 510 bytes"
        )
    if ending.left and not (ending.late or ending.hangs):
        yield (
            f"{counted(ending.left, 'process')} went on when the command had ended, slept most "
            "of the time, and had to be ended"
        )
    if ending.without_privileges:
        yield (
            f"{counted(ending.without_privileges, 'setuid program')} ran without the privileges of "
            "the owner, or the capabilities of its file, which ptrace takes; as root, --recorder "
            "bpf does not"
        )
    if ending.refused_to_trace:
        yield (
            "a program wanted to trace another, which is not possible under ptrace: what it said "
            "of that is not its fault; as root, record --recorder bpf lets it"
        )


# ---- one run


def record(args: argparse.Namespace, launch: "Launch", store: "Store") -> int:
    """Run it once; the exit code is the program's own."""
    from eitherway.recording.read import Recording
    from eitherway.worlds.processes.apart import is_on_own_files, lacking
    from eitherway.worlds.processes.run import Limits, run
    from eitherway.worlds.processes.watching import Watching

    looks_on = args.recorder == RECORDERS[1]
    _refuse(verify=args.verify, driver=args.driver, timeout=looks_on and args.timeout)
    with (
        _place(args)(launch) as box,
        store.new() as slot,
        Watching() if looks_on else nullcontext() as watching,
    ):
        own = is_on_own_files(box)
        _say_where(args, box)
        ran = run(
            launch,
            box,
            slot.path,
            seed=None if looks_on or own else args.seed,
            show=running.shown(),
            watching=watching,
            redact=args.redact,
            limits=Limits(seconds=args.timeout),
        )
        store.publish(slot.path)
    with Recording.open(slot.path) as recording:
        calls = len(ran.log.calls)
        output.say(f"{_ending(ran.log)} after {calls:,} system calls; kept in {recording.path}")
    output.say(f"world: processes; recorded by {args.recorder}; isolated by {box.isolation}")
    for note in told_of(ran.log, looked_on=looks_on):
        output.say(note)
    again = not (looks_on or lacking(box) or args.redact)
    output.say("next: eitherway races" + (", eitherway replay" if again else ""))
    return _exit_code(ran.log)


def _place(args: argparse.Namespace) -> "Callable[[Launch], Sandbox]":
    from eitherway.worlds.processes.apart import among_own, apart, as_permitted

    if args.keep:
        return among_own
    return apart if args.sandbox else as_permitted


def _say_where(args: argparse.Namespace, box: "Sandbox") -> None:
    from eitherway.worlds.processes.apart import is_on_own_files, lacking

    if is_on_own_files(box):
        output.say("the run is on your own files")
    if why := lacking(box):
        output.say(f"it cannot be done again: {why}")
    elif not args.sandbox:
        again = args.recorder == RECORDERS[0] and not args.redact
        why = ", so that it can be done again" if again else "; --keep lets it write them"
        output.say(f"the run is kept away from your files{why}")


def _ending(log: "Log") -> str:
    return _ended(log.ending.status)


def _ended(status: int) -> str:
    return running.ending(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else status >> 8)


def _exit_code(log: "Log") -> int:
    if log.ending.late:
        return running.TIMED_OUT
    status = log.ending.status
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else status >> 8


def _refuse(**given: object) -> None:
    """Options that are of threads so far."""
    for name, asked in given.items():
        if asked:
            option = f"--{name.replace('_', '-')}"
            raise Unavailable(f"{option} is not there yet for processes")


def _other(recorded: "Log", again: "Log") -> str:
    """What a replay did that the recorded run did not; nothing when it did the same."""
    from eitherway.worlds.processes.outcome import written_by

    if again.ending.left_plan:
        return again.ending.left_plan
    if again.ending.status != recorded.ending.status:
        return f"it ended with {_ending(again)}"
    then, now = written_by(recorded), written_by(again)
    names = [name for name in then if then[name] != now.get(name)]
    return f"{names[0]} is not what it was" if names else ""


def _as_begun(log: "Log") -> list[int]:
    """As they were let through: who waited was asleep, and not held, when others went on.

    A signal to a process of several threads goes to one that is not held.
    """
    begun: list[int] = log.calls["entered"].argsort(kind="stable").tolist()
    return begun


def replay(args: argparse.Namespace, recording: "Recording") -> int:
    """Do a recorded run again, call by call, apart from the user's files."""
    from eitherway.sandbox import scratch
    from eitherway.worlds.processes.apart import apart
    from eitherway.worlds.processes.log import Log
    from eitherway.worlds.processes.plan import Plans, Turns
    from eitherway.worlds.processes.recorded import launch_of
    from eitherway.worlds.processes.run import PATIENCE, Follow, Limits, run

    _refuse(gdb=args.gdb, trace=args.trace, keep=args.keep, times=args.times > 1)
    log, launch = Log.read(recording), launch_of(recording)
    show = None if args.quiet else running.shown()
    with (
        apart(launch) as box,
        scratch.on_disk() as into,
    ):
        follow = Follow(Plans(log), Turns(_as_begun(log)))
        limits = Limits(PATIENCE, seconds=args.timeout)
        ran = run(launch, box, into.path, seed=0, follow=follow, limits=limits, show=show)
    if where := _other(log, ran.log):
        output.say(f"the replay was not the same: {where}")
        return Exit.INCONCLUSIVE
    output.say(f"the same, call by call: {_ending(log)}, {len(log.calls):,} system calls")
    return Exit.OK
