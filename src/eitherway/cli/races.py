# SPDX-License-Identifier: Apache-2.0
"""`eitherway races`: what races in a recording."""

import argparse
import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eitherway.cli import arguments, findings_list, output, running, trees
from eitherway.errors import Exit, UsageError
from eitherway.findings.document import load
from eitherway.findings.merge import merged, stamped
from eitherway.model.finding import Finding, Source
from eitherway.model.race import OVERLAPPING, Race
from eitherway.model.text import counted

if TYPE_CHECKING:
    from eitherway.model.described import Describe
    from eitherway.model.trace import Trace
    from eitherway.recording.layout import BlockType
    from eitherway.recording.read import Recording

HELP = "find the operations of a recording whose order nothing decided"

Mark = Callable[[list[Race]], list[Race]]
Found = tuple[list[Finding], list[str], bool]  # findings, notes on what was looked at, all of it?


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "recording",
        nargs="?",
        metavar="RECORDING",
        type=arguments.file_name,
        help="a folder, or the name of a recording in .eitherway (default: the latest)",
    )
    parser.add_argument(
        "--findings",
        metavar="FILE",
        type=arguments.file_name,
        action="append",
        default=[],
        help="take saved findings instead ('-': stdin; may be repeated)",
    )
    parser.add_argument(
        "--incomplete",
        action="store_true",
        help="read what is whole of a recording that was broken off",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="run the recorded command again to trace it, wherever the recording comes from",
    )
    parser.add_argument(
        "--guesses",
        action="store_true",
        help="also tell what may be meant so: accesses that another can come between",
    )
    findings_list.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Detect or load, then report."""
    if args.recording and args.findings:
        raise UsageError("give a RECORDING or --findings, not both")
    if args.incomplete and args.findings:
        raise UsageError("--incomplete is about recordings; --findings reads none")
    if args.findings.count("-") > 1:
        raise UsageError("standard input ('-') can be read only once")
    plan = findings_list.plan_of(args)
    if not args.recording and not args.findings:
        args.findings = _kept()
    found, notes, whole = _saved(args.findings) if args.findings else detected(args)
    result = findings_list.result_of(plan, found, notes)
    findings_list.deliver(plan, result, lambda: findings_list.show_text(plan, result))
    if not plan.json and not args.findings:
        name = f" {args.recording}" if args.recording else ""
        part = " --incomplete" if args.incomplete else ""
        output.say(f"next: eitherway races{name}{part} --json FILE keeps this")
    if not whole and not result.findings:
        output.say("nothing was found in what is left, which says nothing about what is missing")
        return Exit.INCONCLUSIVE
    return result.exit_code


def _kept() -> list[str]:
    """What `check` has kept, unless a run was recorded since: then that is what is asked about."""
    # late: NumPy comes with the searches
    from eitherway.find import saved
    from eitherway.recording.store import Store

    store = Store.default()
    path, latest = saved.path_of(store), store.latest()
    if not path.is_file():
        return []
    newer = latest is not None and latest.stat().st_mtime > path.stat().st_mtime
    return [] if newer else [str(path)]


def _saved(files: Iterable[str]) -> Found:
    documents = [load(name) for name in files]
    findings = [finding for document in documents for finding in document.findings]
    return findings, list(dict.fromkeys(n for d in documents for n in d.summary.notes)), True


def detected(args: argparse.Namespace) -> Found:
    """What the detectors find in the recording that is named."""
    # late: NumPy and the detectors are not needed for saved findings
    from eitherway.detect import CERTAIN, DETECTORS, detect_all
    from eitherway.findings.from_races import findings_of
    from eitherway.recording.read import Recording

    path = _path_of(args.recording)
    with Recording.open(path, incomplete=args.incomplete) as recording:
        trace, describe, mark, peculiar = _trace_of(recording, again=args.again)
        losses = list(recording.losses)
        again = f"eitherway replay {shlex.quote(_name_of(path))}" if _is_run(recording) else ""
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    source = Source("eitherway", str(path))
    chosen = DETECTORS if args.guesses else CERTAIN
    races = detect_all(trace, tuple(d for d in chosen if not (d.whole and losses)))
    told_races = mark(races)
    overlapping = sum(race.pattern == OVERLAPPING for race in told_races)
    findings = findings_of(trace, told_races, source=source, evidence=str(path), describe=describe)
    looked_at = (
        f"looked at {len(trace)} operations by {len(trace.actors)} actors of one run; "
        "another run, or code that was not recorded, may have others"
    )
    # Merged first: what one run shows in two ways was seen once.
    told = [replace(stamped(finding, when), replay=again) for finding in merged(findings)]
    whole = not losses and not races.limits  # nothing found in a part says nothing of the rest
    unsure = (
        [f"{counted(overlapping, 'race')} of calls that overlapped: which came first is not known"]
        if overlapping
        else []
    )
    return told, [looked_at, *unsure, *peculiar, *races.limits, *losses], whole


def _is_run(recording: "Recording") -> bool:
    from eitherway.worlds.threads.recorded import is_run  # late: as above

    return is_run(_kinds(recording))


def _kinds(recording: "Recording") -> "set[BlockType]":
    from eitherway.recording.layout import BlockType  # late: as above

    return {BlockType[name.upper()] for e in recording.manifest.streams for name in e.holds}


def _name_of(path: Path) -> str:
    """In the store, its name; that is what people know it by."""
    return path.name if path.parent.name == "recordings" else str(path)


class _Told(NamedTuple):
    """What is known of a run: its trace, and what its world knows besides."""

    trace: "Trace"
    describe: "Describe"
    mark: "Mark" = list
    notes: tuple[str, ...] = ()


def _trace_of(recording: "Recording", *, again: bool) -> "_Told":
    """The trace in the recording, or the one of its run, done again with a tracer around it."""
    from eitherway.model.described import nothing
    from eitherway.recording.trace import has_trace, read_trace
    from eitherway.worlds.processes.log import Log
    from eitherway.worlds.processes.overlapping import marked
    from eitherway.worlds.processes.recorded import directory_of, is_tree
    from eitherway.worlds.processes.traced import traced
    from eitherway.worlds.threads.described import Descriptions
    from eitherway.worlds.threads.events import Events, is_trace
    from eitherway.worlds.threads.launch import fix_addresses
    from eitherway.worlds.threads.named import trace_of
    from eitherway.worlds.threads.recorded import is_made_here, is_run, load
    from eitherway.worlds.threads.traced import Depth, TraceRequest, events_of

    if is_tree(recording):
        log = Log.read(recording)
        tree = traced(log, directory_of(recording))
        looked_on = recording.manifest.recorded_by == trees.RECORDERS[1]
        peculiar = tuple(trees.told_of(log, looked_on=looked_on))
        return _Told(tree.trace, tree.describe, lambda races: marked(races, tree), peculiar)
    kinds = _kinds(recording)
    if is_trace(recording):
        events = Events.read(recording)
        if only := events.names.asked.only():
            recording.lose("trace", f"the trace has only {' and '.join(only)}")
        return _Told(trace_of(events), Descriptions(events))
    if has_trace(kinds) or not is_run(kinds):
        return _Told(read_trace(recording), nothing)
    if not (again or is_made_here(recording)):
        raise UsageError(
            f"{recording.path} holds a run without a trace, and was not made in that place: to "
            "trace it is to start what it names",
            fix=f"eitherway races --again {recording.path}, if you trust it",
        )
    fix_addresses()
    recorded = load(recording)
    with running.apart(recorded.launch, required=recorded.boxed) as box:
        events, _ = events_of(recorded, TraceRequest(Depth.VALUES), box=box)
    return _Told(trace_of(events), Descriptions(events))


def _path_of(name: str | None) -> Path:
    """A folder that is there, else a recording of the store."""
    from eitherway.recording.store import Store  # late: as above

    if name is not None and ("/" in name or os.path.exists(name)):
        return Path(name)
    return Store.default().find(name or "latest")
