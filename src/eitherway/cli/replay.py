# SPDX-License-Identifier: Apache-2.0
"""`eitherway replay`: do a recorded run again, and check that it is the same to the bit."""

import argparse
import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from eitherway.cli import trace_options
from eitherway.cli.output import say
from eitherway.cli.record import amount, ending
from eitherway.errors import Exit, Unavailable, UsageError

if TYPE_CHECKING:
    from eitherway.worlds.threads.recorded import Recorded
    from eitherway.worlds.threads.run import Ran
    from eitherway.worlds.threads.trace_request import TraceRequest

HELP = "do a recorded run again, exactly"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "recording",
        nargs="?",
        metavar="RECORDING",
        help="a folder, or the name of a recording in .eitherway (default: the latest)",
    )
    parser.add_argument("--times", type=int, default=1, metavar="N", help="how often (default: 1)")
    parser.add_argument("--quiet", action="store_true", help="do not show what the program prints")
    parser.add_argument("--gdb", action="store_true", help="in the debugger")
    trace_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Replay; 0 when every time was the same, 2 when one was not."""
    # late: NumPy comes with these
    from eitherway.recording.read import Recording
    from eitherway.worlds.threads.launch import fix_addresses, program_of
    from eitherway.worlds.threads.recorded import load

    if args.times < 1:
        raise UsageError("--times needs a number from 1 on")
    if args.trace and (args.gdb or args.times > 1):
        raise UsageError("--trace goes with one run, and not with --gdb")
    with Recording.open(_path_of(args.recording)) as recording:
        recorded = load(recording)
    request = trace_options.request_of(args, program_of(recorded.launch))
    traced = trace_options.prepare(args.trace) if request else None
    fixed = fix_addresses()
    if args.gdb:
        _debug(recorded)
    for number in range(1, args.times + 1):
        ran = _again(recorded, quiet=args.quiet, trace=traced, request=request)
        if differences := ran.differences(recorded.ran):
            _tell(number, ran, differences, fixed=fixed)
            trace_options.tell(traced)
            return Exit.INCONCLUSIVE
    times = "" if args.times == 1 else f" {args.times} of {args.times} times"
    say(f"the same to the bit{times}: {ending(recorded.ran.status)}, {amount(recorded.ran)}")
    trace_options.tell(traced)
    return Exit.OK


def _path_of(name: str | None) -> Path:
    from eitherway.recording.store import Store

    return Path(name) if name and "/" in name else Store.default().find(name or "latest")


def _again(
    recorded: "Recorded",
    *,
    quiet: bool,
    trace: Path | None = None,
    request: "TraceRequest | None" = None,
) -> "Ran":
    from eitherway.worlds.threads.run import run as run_once
    from eitherway.worlds.threads.run import show_on
    from eitherway.worlds.threads.trace_request import USUAL

    show = None if quiet else show_on(sys.stdout.buffer, sys.stderr.buffer)
    asked = request or USUAL
    return run_once(recorded.launch, replay=recorded.ran, trace=trace, request=asked, show=show)


def _tell(number: int, ran: "Ran", differences: list[str], *, fixed: bool) -> None:
    where = f" at step {ran.schedule.diverged_at:,}" if ran.schedule.diverged_at else ""
    say(f"replay {number} was not the same{where}: {', '.join(differences)}; {ending(ran.status)}")
    if not fixed:
        say("addresses could not be fixed here: a program that depends on them cannot replay")


def _debug(recorded: "Recorded") -> NoReturn:
    """Become gdb; it hands the environment and the descriptors on to the program."""
    from eitherway.worlds.threads.holding import paths
    from eitherway.worlds.threads.run import Memories

    gdb = shutil.which("gdb")
    if gdb is None:
        raise Unavailable("--gdb needs gdb", fix="apt-get install gdb")
    stack = ExitStack()  # never left: what replaces this process needs the descriptors
    descriptors = stack.enter_context(Memories(stack).options(recorded.ran))
    for descriptor in descriptors.values():
        os.set_inheritable(descriptor, True)
    options = {"scheduler": "replay", **paths(descriptors, os.getpid())}
    os.chdir(recorded.launch.directory)
    settings = (
        "set startup-with-shell off",
        "unset environment LINES",
        "unset environment COLUMNS",
    )
    flags = [word for setting in settings for word in ("-ex", setting)]
    command = [gdb, "-q", *flags, "--args", *recorded.launch.command]
    os.execve(gdb, command, recorded.launch.environment_with(options))
