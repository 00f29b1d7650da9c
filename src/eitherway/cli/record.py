# SPDX-License-Identifier: Apache-2.0
"""`eitherway record`: run a program once, and keep all that is needed to do it again."""

import argparse
from typing import TYPE_CHECKING

from eitherway.cli import arguments, running, trees
from eitherway.cli.output import say
from eitherway.errors import Exit, UsageError

if TYPE_CHECKING:
    from eitherway.sandbox.box import Sandbox
    from eitherway.worlds.threads.recorded import Recorded

HELP = "run a program once under a schedule of ours, and keep the run"
_USE = "eitherway record -- ./program ARGS"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    trees.add_world(parser)
    trees.add_redact(parser)
    trees.add_recorder(parser)
    parser.add_argument(
        "--seed", type=arguments.seed, default=0, metavar="N", help="which schedule (default: 0)"
    )
    parser.add_argument(
        "--scheduler",
        choices=["random-walk", "round-robin", "pct", "pos", "surw"],
        default="random-walk",
        help="how the schedule is made (default: random-walk)",
    )
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="keep what it writes away from your files, and refuse to run where that cannot be "
        "(default: of threads, a run like any other; of processes, as far as can be)",
    )
    trees.add_keep(parser, "of threads, that is the default, and it can")
    parser.add_argument(
        "--verify", action="store_true", help="replay it at once, and tell what differs"
    )
    running.add_time(parser)
    running.add_driver(parser)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- CMD ARGS", help="the program to run"
    )


def run(args: argparse.Namespace) -> int:
    """Run it, keep it; the exit code is the program's own."""
    # late: NumPy comes with these
    from eitherway.recording.store import Store
    from eitherway.worlds.threads.launch import Launch, fix_addresses, program_here
    from eitherway.worlds.threads.program import classify
    from eitherway.worlds.threads.recorded import Recorded, save
    from eitherway.worlds.threads.run import run as run_once

    command, plan = running.command_of(args.command, _USE), running.plan_of(args)
    trees.refuse_beside_keep(args, sandbox=args.sandbox)
    program = program_here(Launch.here(command))
    found = classify(program)
    if trees.are_meant(args.world, found):
        trees.refuse_beside_keep(args, seed=args.seed)
        launch = Launch.here(command, *running.stdin_for_many())
        return trees.record(args, launch, Store.default(tell=say))
    trees.refuse_options_of(args)
    if args.recorder != trees.RECORDERS[0]:
        raise UsageError("--recorder bpf is for processes: --world processes")
    leads = args.world == "threads" and found.may_lead(command[0])
    if not leads and (problem := found.problem()):
        raise problem
    launch = Launch.here(command, *running.stdin_for_one())
    store = Store.default(tell=say)
    store.prepare()  # before the run, which would be lost
    fixed = fix_addresses()
    if not fixed:
        say(
            "addresses are random here (personality is refused): a replay may differ where the "
            "program depends on them"
        )
    with running.sandbox(launch, wanted=args.sandbox) as box:
        ran = run_once(
            launch,
            seed=args.seed,
            scheduler=args.scheduler,
            show=running.shown(),
            plan=plan,
            box=box,
        )
        if leads and not ran.began:
            raise found.nothing_of_ours()
        running.refuse_early_end(ran, program)
        recorded = Recorded(launch, ran, boxed=args.sandbox)
        path = save(recorded, store)
        running.tell_course(ran, plan)
        say(f"{running.ending(ran.status)} after {running.amount(ran)}; kept in {path}")
        say(f"world: threads; {running.isolation(box)}")
        if not found.problem():  # of a script there is only the recording
            say(f"token: {_token(program, args)}")
        same = _verified(recorded, box, fixed=fixed) if args.verify else True
    say("next: eitherway replay")
    code = running.exit_code(ran, plan)
    return code if same or ran.course.interrupt else Exit.INCONCLUSIVE


def _token(program: str, args: argparse.Namespace) -> str:
    from eitherway.recording.token import Token
    from eitherway.worlds.threads.recorded import identity

    return str(Token(identity(program), args.scheduler, args.seed))


def _verified(recorded: "Recorded", box: "Sandbox | None", *, fixed: bool) -> bool:
    """Done again at once, apart; from files as they were if it was recorded so."""
    from eitherway.worlds.threads.run import run as run_once

    if recorded.ran.course.interrupt:
        say("not verified: it was interrupted")
        return True
    if box is None:
        with running.apart(recorded.launch) as other:
            return _verified(recorded, other, fixed=fixed)
    if box.dirty():
        box.reset()
    again = run_once(recorded.launch, replay=recorded.ran, box=box)
    if again.course.interrupt:
        say("not verified: the replay was interrupted")
        return True
    same = running.tell_differences(recorded, again, fixed=fixed, box=box)
    if same:
        say("verified: replayed, the same to the bit")
    return same
