# SPDX-License-Identifier: Apache-2.0
"""`eitherway record`: run a program once, and keep all that is needed to do it again."""

import argparse
import sys
from typing import TYPE_CHECKING

from eitherway.cli import arguments
from eitherway.cli.output import say
from eitherway.errors import UsageError

if TYPE_CHECKING:
    from eitherway.worlds.threads.run import Ran

HELP = "run a program once under a schedule of ours, and keep the run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "--seed", type=arguments.seed, default=0, metavar="N", help="which schedule (default: 0)"
    )
    parser.add_argument(
        "--scheduler",
        choices=["random-walk", "round-robin"],
        default="random-walk",
        help="how the schedule is made (default: random-walk)",
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- CMD ARGS", help="the program to run"
    )


def run(args: argparse.Namespace) -> int:
    """Run it, keep it; the exit code is the program's own."""
    # late: NumPy comes with these
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.launch import Launch, fix_addresses, program_of
    from eitherway.worlds.threads.program import classify
    from eitherway.worlds.threads.recorded import Recorded, save
    from eitherway.worlds.threads.run import run as run_once
    from eitherway.worlds.threads.run import show_on

    launch = Launch.here(command_of(args.command), _stdin())
    if problem := classify(program_of(launch)).problem():
        raise problem
    store = Store.default(tell=say)
    store.prepare()  # before the run, which would be lost
    fix_addresses()
    ran = run_once(
        launch,
        seed=args.seed,
        scheduler=args.scheduler,
        show=show_on(sys.stdout.buffer, sys.stderr.buffer),
    )
    path = save(Recorded(launch, ran), store)
    say(f"{ending(ran.status)} after {amount(ran)}; kept in {path}")
    say("next: eitherway replay")
    return shell_status(ran.status)


def command_of(words: list[str], verb: str = "record") -> list[str]:
    """The command behind `--`."""
    command = words[1:] if words[:1] == ["--"] else words
    if not command:
        raise UsageError("there is no command to run", fix=f"eitherway {verb} -- ./program ARGS")
    return command


def _stdin() -> bytes:
    """Read to its end before the program starts, so that every replay gets the same."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read()


def ending(status: int) -> str:
    """How a program ended, in words."""
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


def amount(ran: "Ran") -> str:
    """How long a run was, in steps."""
    return f"{ran.schedule.steps:,} steps with {len(ran.schedule.switches):,} decisions"


def shell_status(status: int) -> int:
    """As a shell tells it."""
    return 128 - status if status < 0 else status
