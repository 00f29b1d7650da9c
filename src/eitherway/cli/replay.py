# SPDX-License-Identifier: Apache-2.0
"""`eitherway replay`: do a recorded run again, and check that it is the same to the bit."""

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from eitherway import __version__
from eitherway.cli import arguments, running, trace_options, trees
from eitherway.cli.output import say
from eitherway.errors import BadInput, Exit, Unavailable, UsageError

if TYPE_CHECKING:
    from eitherway.recording.token import Token
    from eitherway.sandbox.box import Sandbox
    from eitherway.worlds.threads.guide import Guidance
    from eitherway.worlds.threads.launch import Launch
    from eitherway.worlds.threads.recorded import Recorded
    from eitherway.worlds.threads.trace_request import TraceRequest

HELP = "do a recorded run again, exactly; or a run that a token names"
TAKES_COMMAND = True
_USE = "eitherway replay TOKEN -- ./program ARGS"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.usage = "%(prog)s [options] [RECORDING]\n       %(prog)s [options] TOKEN -- CMD ARGS"
    parser.add_argument(
        "recording",
        nargs="?",
        metavar="RECORDING",
        type=arguments.file_name,
        help="a folder, or the name of a recording in .eitherway (default: the latest); "
        "or a token, which names a schedule and not what came from outside",
    )
    parser.add_argument(
        "--times", type=arguments.count, default=1, metavar="N", help="how often (default: 1)"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show what the program prints")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--sandbox",
        action="store_true",
        help="keep what it writes away from your files, or do not run it (default: as well as "
        "this machine can; a token: not)",
    )
    where.add_argument(
        "--keep", action="store_true", help="outside of a sandbox: what it writes is written"
    )
    parser.add_argument("--gdb", action="store_true", help="in the debugger")
    running.add_time(parser)
    trace_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Replay; 0 when every time was the same, 2 when one was not."""
    from eitherway.recording.token import is_token, parse

    if args.recording and is_token(args.recording):
        return _from_token(parse(args.recording), args)
    if args.trace and (args.gdb or args.times > 1):
        raise UsageError("--trace goes with one run, and not with --gdb")
    if args.gdb and args.sandbox:
        raise UsageError("gdb runs outside of a sandbox")
    if args.command:
        raise UsageError(
            "a recording knows its command; only a token needs one",
            fix="eitherway replay [RECORDING]",
        )
    return _from_recording(args)


def _path_of(name: str | None) -> Path:
    from eitherway.recording.store import Store

    return Path(name) if name and "/" in name else Store.default().find(name or "latest")


# --- a recording


def _from_recording(args: argparse.Namespace) -> int:
    # late: NumPy comes with these
    from eitherway.recording.read import Recording
    from eitherway.worlds.processes.recorded import is_tree
    from eitherway.worlds.threads.launch import fix_addresses, program_of
    from eitherway.worlds.threads.recorded import load

    with Recording.open(_path_of(args.recording)) as recording:
        if is_tree(recording):
            return trees.replay(args, recording)
        recorded = load(recording)
    request = trace_options.request_of(args, program_of(recorded.launch))
    traced = trace_options.prepare(args.trace) if request else None
    fixed = fix_addresses()
    if args.gdb:
        _debug(recorded)
    again = _Again(recorded, args, fixed, traced, request)
    with again.place() as box:
        code = again.repeat(box)
    trace_options.tell(traced)
    return code


@dataclass(frozen=True, slots=True)
class _Again:
    """A recorded run, and how it is to be done again."""

    recorded: "Recorded"
    args: argparse.Namespace
    fixed: bool
    traced: Path | None
    request: "TraceRequest | None"

    @contextmanager
    def place(self) -> "Iterator[Sandbox | None]":
        """Where it runs: apart, unless asked otherwise."""
        if self.args.keep:
            yield None
            return
        required = self.args.sandbox or self.recorded.boxed
        with running.apart(self.recorded.launch, required=required) as box:
            yield box

    def repeat(self, box: "Sandbox | None") -> int:
        """As often as asked, or until it was not the same."""
        times, ran = self.args.times, self.recorded.ran
        for number in range(1, times + 1):
            code = self._once(box)
            if code is not None:
                if times > 1:
                    say(f"that was replay {number} of {times}")
                return code
        often = "" if times == 1 else f" {times} of {times} times"
        say(f"the same to the bit{often}: {running.ending(ran.status)}, {running.amount(ran)}")
        return Exit.OK

    def _once(self, box: "Sandbox | None") -> int | None:
        """None when it was the same."""
        from eitherway.worlds.threads.course import Ended, Plan
        from eitherway.worlds.threads.run import run as run_once
        from eitherway.worlds.threads.trace_request import USUAL

        if box and box.dirty():
            box.reset()
        plan = Plan(timeout=self.args.timeout)
        again = run_once(
            self.recorded.launch,
            replay=self.recorded.ran,
            trace=self.traced,
            request=self.request or USUAL,
            show=None if self.args.quiet else running.shown(),
            plan=plan,
            box=box,
        )
        if again.course.ended not in (Ended.ITSELF, Ended.KNOWN):
            running.tell_course(again, plan, replay=True)
            return running.exit_code(again, plan)
        same = running.tell_differences(self.recorded, again, fixed=self.fixed, box=box)
        return None if same else Exit.INCONCLUSIVE


def _debug(recorded: "Recorded") -> NoReturn:
    """Become gdb; it hands the environment and the descriptors on to the program."""
    from eitherway.worlds.threads.holding import paths
    from eitherway.worlds.threads.launch import program_of
    from eitherway.worlds.threads.run import Memories, options_of

    gdb = shutil.which("gdb")
    if gdb is None:
        raise Unavailable("--gdb needs gdb", fix="apt-get install gdb")
    say("in gdb it runs outside of a sandbox: what it writes is written")
    stack = ExitStack()  # never left: what replaces this process needs the descriptors
    descriptors = stack.enter_context(Memories(stack).options(recorded.ran))
    for descriptor in descriptors.values():
        os.set_inheritable(descriptor, True)
    options = {**options_of(0, "", recorded.ran), **paths(descriptors, os.getpid())}
    os.chdir(recorded.launch.directory)
    environment = recorded.launch.environment_with(options)
    wrapper = _wrapper(recorded.launch.command, environment)
    program = program_of(recorded.launch)
    command = [gdb, "-q", "-ex", f"set exec-wrapper {wrapper}", program]
    os.execve(gdb, command, environment)


def _wrapper(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """What gdb starts instead of the program, which it would name by another path."""
    from eitherway.worlds.threads import become

    told = os.memfd_create("eitherway-launch", 0)
    os.write(told, json.dumps({"command": list(command), "environment": environment}).encode())
    return shlex.join([sys.executable, "-I", become.__file__, str(told)])


# --- a token


def _from_token(token: "Token", args: argparse.Namespace) -> int:
    """The exit code is the program's own: there is nothing to compare the run with."""
    from eitherway.worlds.threads.course import Plan
    from eitherway.worlds.threads.launch import Launch, fix_addresses
    from eitherway.worlds.threads.run import run as run_once

    if args.gdb or args.trace or args.times > 1:
        raise UsageError(
            "--gdb, --trace and --times need a recording, which a token is not",
            fix="eitherway record -- CMD ARGS, with the token's seed and scheduler",
        )
    launch = Launch.here(running.command_of(args.command, _USE), *running.stdin_for_one())
    _refuse_other_build(token, launch)
    guidance = _guidance(token)
    fix_addresses()
    plan = Plan(timeout=args.timeout)
    with running.sandbox(launch, wanted=args.sandbox) as box:
        ran = run_once(
            launch,
            seed=token.seed,
            scheduler=token.scheduler,
            guidance=guidance,
            detect=token.places is not None,
            show=None if args.quiet else running.shown(),
            plan=plan,
            box=box,
        )
        running.tell_course(ran, plan)
        say(f"{running.ending(ran.status)} after {running.amount(ran)}")
        say(f"{running.isolation(box)}; what came from outside was real, and nothing is kept")
    if token.places is None:
        seed = f"--scheduler {token.scheduler} --seed {token.seed}"
        say(f"next: eitherway record {seed} -- ... keeps it")
    return running.exit_code(ran, plan)


def _guidance(token: "Token") -> "Guidance":
    """What the token tells its scheduler."""
    from eitherway.worlds.threads.guide import Guidance
    from eitherway.worlds.threads.places import Places
    from eitherway.worlds.threads.policies import POLICIES

    policy = POLICIES.get(token.scheduler)
    if policy is None:
        known = ", ".join(POLICIES)
        raise BadInput(f"the token is of the scheduler {token.scheduler}; there are {known}")
    takes = {**policy.takes, "length": range(1, 2**32)} if policy.takes else {}
    for name, value in token.options.items():
        if value not in takes.get(name, ()):
            raise BadInput(f"the token has {name}={value}, which {policy.name} does not take")
    try:
        return Guidance(Places.named(token.places or ""), tuning=token.options)
    except ValueError as error:
        raise BadInput(f"the places of the token make no sense: {error}") from None


def _refuse_other_build(token: "Token", launch: "Launch") -> None:
    from eitherway.model.words import World
    from eitherway.worlds.threads.launch import program_here
    from eitherway.worlds.threads.program import classify
    from eitherway.worlds.threads.recorded import identity

    if token.world is not World.THREADS:
        raise Unavailable(f"the token is of the {token.world} world, which is not there yet")
    if token.tool != __version__:
        raise BadInput(
            f"the token is of EitherWay {token.tool}, this is {__version__}: its schedules are "
            "other ones",
            fix=f"use EitherWay {token.tool}, or record again",
        )
    program = program_here(launch)
    if problem := classify(program).problem():
        raise problem
    found = identity(program)
    if not token.fits(found):
        raise BadInput(
            f"the token is of build {token.build}, {program} is build {found[: len(token.build)]}",
            fix="go back to the build that it is of, or record again",
        )
