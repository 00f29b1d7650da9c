# SPDX-License-Identifier: Apache-2.0
"""Options of the verbs that run a program, and how a run is shown and told."""

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, TextIO

from eitherway.cli import arguments, output
from eitherway.errors import BadInput, Unavailable, UsageError

if TYPE_CHECKING:
    from eitherway.sandbox.box import Sandbox
    from eitherway.worlds.threads.course import Plan
    from eitherway.worlds.threads.launch import Launch
    from eitherway.worlds.threads.recorded import Recorded
    from eitherway.worlds.threads.run import Ran
    from eitherway.worlds.threads.standard_input import Source
    from eitherway.worlds.threads.target import Sink

TIMED_OUT = 124  # as timeout(1) says it


def add_time(parser: argparse.ArgumentParser) -> None:
    """How long it may take."""
    parser.add_argument(
        "--timeout",
        type=arguments.seconds,
        metavar="SECONDS",
        help="end the program after this time",
    )


def add_driver(parser: argparse.ArgumentParser) -> None:
    """For servers."""
    parser.add_argument(
        "--driver",
        metavar="CMD",
        help="the program is a server: run CMD (words, no shell) when it is ready, "
        "and stop it when CMD is done",
    )
    parser.add_argument(
        "--ready",
        metavar="WHEN",
        help="port:N, output:REGEX, file:PATH, or idle: it waits for the outside (default)",
    )
    parser.add_argument(
        "--stop", metavar="HOW", help="signal:TERM (default) or another, or exit: it ends by itself"
    )
    parser.add_argument(
        "--grace",
        type=arguments.seconds,
        metavar="SECONDS",
        help="how long it then has to end (default: 5)",
    )


def add_budget(
    parser: argparse.ArgumentParser, seconds: float, *, of_trees: float | None = None
) -> None:
    """How much of a search."""
    other = f"; of processes {of_trees:g}, once the run is recorded" if of_trees else ""
    parser.add_argument(
        "--seconds",
        type=arguments.seconds,
        metavar="N",
        help=f"how long (default: {seconds:g}, without --schedules{other})",
    )
    parser.add_argument(
        "--schedules", type=arguments.count, metavar="N", help="how many schedules at most"
    )
    parser.add_argument(
        "--seed", type=arguments.seed, default=0, metavar="N", help="of the schedules (default: 0)"
    )


def plan_of(args: argparse.Namespace) -> "Plan":
    """What the options ask for."""
    from eitherway.worlds.threads.course import GRACE, Plan
    from eitherway.worlds.threads.driver import Driver, parse_command, parse_stop
    from eitherway.worlds.threads.ready import parse

    if args.driver is None:
        given = [name for name in ("ready", "stop", "grace") if getattr(args, name) is not None]
        if given:
            raise UsageError(f"--{given[0]} is about a --driver", fix="--driver 'CMD ARGS'")
        return Plan(timeout=args.timeout)
    command = parse_command(args.driver)
    if shutil.which(command[0]) is None:
        raise UsageError(f"the driver {command[0]} is no command that can be started")
    driver = Driver(command, parse(args.ready or "idle"), parse_stop(args.stop or "signal:TERM"))
    return Plan(
        timeout=args.timeout,
        driver=driver,
        grace=args.grace if args.grace is not None else GRACE,
        show_driver=_Lines("driver: ").take,
    )


# --- what runs, and where


def command_of(words: list[str], use: str) -> list[str]:
    """The command behind `--`."""
    command = words[1:] if words[:1] == ["--"] else words
    if not command:
        raise UsageError("there is no command to run", fix=use)
    return command


def stdin_for_one() -> "tuple[bytes, Source]":
    """What a single run has for its standard input."""
    from eitherway.worlds.threads.standard_input import known_of, source_of

    source = source_of(0)
    return known_of(source, 0), source


def stdin_for_many() -> "tuple[bytes, Source]":
    """The same for every run: what comes from a pipe is read to its end before the first."""
    from eitherway.worlds.threads.standard_input import Source, all_of, known_of, source_of

    source = source_of(0)
    if source is Source.PIPE:
        return all_of(0), Source.GIVEN
    if source in (Source.GIVEN, Source.FILE):
        return known_of(source, 0), source
    if source is Source.DEVICE and not os.path.samestat(os.fstat(0), os.stat(os.devnull)):
        raise UsageError(
            "every schedule is to have the same standard input, and a device has no end",
            fix="</dev/null, or a file",
        )
    return b"", Source.GIVEN


@contextmanager
def sandbox(launch: "Launch", *, wanted: bool) -> "Iterator[Sandbox | None]":
    """A sandbox for the program, if one is wanted; its files are kept apart in any case."""
    from eitherway.sandbox.box import Sandbox
    from eitherway.sandbox.isolation import Kind

    if not wanted:
        yield None
        return
    with Sandbox(require=[Kind.FILES], work=[launch.directory]) as box:
        yield box


@contextmanager
def apart(launch: "Launch", *, required: bool = False) -> "Iterator[Sandbox]":
    """A sandbox for a replay, as good as this machine permits; or with files apart, if required."""
    from eitherway.sandbox.confined import confined
    from eitherway.sandbox.isolation import Kind

    with confined(require=[Kind.FILES] if required else (), work=[launch.directory]) as box:
        if Kind.FILES in box.isolation.missing:
            why = box.isolation.of(Kind.FILES).why
            output.say(f"the replay is not isolated ({why}): what it writes is written again")
        yield box


def isolation(box: "Sandbox | None") -> str:
    """In words."""
    if box is None:
        return "not isolated: what it wrote is written"
    missing = [f"{kind}: {box.isolation.of(kind).why}" for kind in box.isolation.missing]
    return f"isolated by {box.isolation}" + (f" ({'; '.join(missing)})" if missing else "")


# --- what is seen of it


def shown() -> "tuple[Sink, Sink]":
    """Sinks that hand output on at once, for as long as somebody takes it."""
    return _handed_on(sys.stdout), _handed_on(sys.stderr)


def _handed_on(stream: TextIO) -> "Sink":
    raw: IO[bytes] = stream.buffer
    broken = False

    def write(data: bytes) -> None:
        nonlocal broken
        if broken:
            return
        try:
            raw.write(data)
            raw.flush()
        except OSError as error:  # the run goes on: it is kept, and can be shown again
            broken = True
            output.silence(stream)
            if not isinstance(error, BrokenPipeError):
                output.say(f"what the program writes cannot be shown: {error.strerror}")

    return write


class _Lines:
    """Tells whole lines on standard error, with a word before each."""

    _LONGEST = 1 << 12

    def __init__(self, before: str) -> None:
        self._before = before
        self._rest = b""

    def take(self, data: bytes) -> None:
        """A part as it comes; what has no line end yet is kept for the next one."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > self._LONGEST:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            output.tell(self._before + os.fsdecode(line))


def tell_differences(
    recorded: "Recorded", again: "Ran", *, fixed: bool, box: "Sandbox | None"
) -> bool:
    """What differs when it was done again, and what may be why; True when nothing does."""
    from eitherway.worlds.threads.causes import likely_causes
    from eitherway.worlds.threads.determinism import check_determinism

    found = check_determinism(recorded, again=again, fixed=fixed, box=box)
    if not found:
        return True
    steps = [difference.step for difference in found if difference.step is not None]
    where = f", from step {min(steps):,} on" if steps else ""
    output.say(f"the replay was not the same{where}: this is about the run, not about a race")
    for difference in found:
        output.tell(f"  {difference.kind}: {difference.words}")
    for cause in likely_causes(recorded, again, fixed=fixed, boxed=box is not None):
        output.tell(f"  perhaps: {cause}")
    return False


# --- how it ended


def ending(status: int) -> str:
    """How a program ended, in words."""
    from eitherway.worlds.threads.target import STOP

    if status == -STOP:
        return "stopped where it was"
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


def amount(ran: "Ran") -> str:
    """How long a run was, in steps."""
    steps = sum(member.schedule.steps for member in ran.members)
    decisions = sum(len(member.schedule.switches) for member in ran.members)
    processes = f" in {len(ran.members):,} processes" if len(ran.members) > 1 else ""
    return f"{steps:,} steps with {decisions:,} decisions{processes}"


def tell_course(ran: "Ran", plan: "Plan", *, replay: bool = False) -> None:
    """What happened besides the program's own doings, if anything did."""
    from eitherway.worlds.threads.course import Ended

    course = ran.course
    if course.ended is Ended.TIMEOUT:
        output.say(f"it took more than {plan.timeout:g} seconds")
    if course.ended is Ended.INTERRUPTED:
        output.say("interrupted")
    if course.killed and not replay:
        output.say(
            "it had to be killed, for it came to no decision point: perhaps it is in a loop that "
            "nothing can interrupt, or in code that eitherway cc did not compile"
        )
        output.tell("  a replay goes up to the last step that is known")
    if plan.driver and course.driven is None:
        over = "it ended" if course.ended is Ended.ITSELF else "it was ended"
        never = "" if course.driving else f": it was to {plan.driver.ready} first, and never did"
        output.say(f"{over} before the driver was done{never}")
    if course.driven and course.driven.status:
        output.say(f"the driver failed: {ending(course.driven.status)}")
    if ran.left:
        few = "1 process" if ran.left == 1 else f"{ran.left} processes"
        output.say(f"it left {few}, ended now")


def exit_code(ran: "Ran", plan: "Plan") -> int:
    """The program's own, unless the run was brought to its end from here."""
    from eitherway.worlds.threads.course import Ended

    course = ran.course
    if course.ended is Ended.INTERRUPTED:
        return 128 + course.interrupt
    if course.ended is Ended.TIMEOUT:
        return TIMED_OUT
    if plan.driver is None:
        return shell_status(ran.status)
    if course.driven is None:
        return shell_status(ran.status) or 1
    as_asked = course.ended is Ended.DRIVEN and ran.status == -(plan.driver.stop or 0)
    return course.driven.exit_code or (0 if as_asked else shell_status(ran.status))


def shell_status(status: int) -> int:
    """As a shell tells it."""
    return 128 - status if status < 0 else status


def refuse_early_end(ran: "Ran", program: str) -> None:
    """A run in which the program itself never ran is no run."""
    if ran.began:
        return
    how = ending(ran.status)
    if b"error while loading shared libraries" in ran.err.beginning:
        raise Unavailable(
            f"{program} cannot be loaded: a library that it needs is missing",
            fix=f"ldd {program}, then install it or set LD_LIBRARY_PATH",
        )
    raise BadInput(
        f"{program} died in start-up, before its own code began: {how}",
        fix=f"run {program} by itself, or in gdb",
    )


def code_of(result: int, interrupt: KeyboardInterrupt | None) -> int:
    """Of a search that tells what it has found also when it is interrupted; that is said last."""
    if interrupt is None:
        return result
    output.say("interrupted; this is what was found until then")
    return 128 + int(getattr(interrupt, "number", signal.SIGINT))
