# SPDX-License-Identifier: Apache-2.0
"""The command line: finds the verb, and turns every ending into a message and an exit code.

A verb is a module of this folder with HELP, `add_arguments` and `run`. Only the verb that is asked
for is imported, so that `eitherway --version` does not pay for NumPy.
"""

import argparse
import errno
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn, Protocol, cast

from eitherway import __version__, dispositions
from eitherway.cli import output
from eitherway.errors import Exit, Problem, UsageError

VERBS = (
    "demo",
    "doctor",
    "cc",
    "c++",
    "check",
    "record",
    "replay",
    "races",
    "judge",
    "explain",
    "verify",
    "report",
)
"""In the order a person meets them."""

COMPILERS = {"cc": "cc", "c++": "cxx"}
"""Verbs whose whole command line belongs to a compiler, --help too, with their modules."""

EXHAUSTED = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
"""What no code of ours could have avoided, wherever it is met."""


class Verb(Protocol):
    """What a module of this folder offers."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say which options the verb takes."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; the exit code."""


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line is a `UsageError` (64) and not exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Called by argparse."""
        raise UsageError(message, fix=f"{self.prog} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Called by argparse for --help; its own would not notice a full disk."""
        with output.to_stdout() as out:
            out.write(message)


def entry() -> NoReturn:
    """What the installed `eitherway` command calls."""
    output.open_closed_streams()
    dispositions.set_back()
    for number in _TERMINATING:
        if signal.getsignal(number) is signal.SIG_DFL:  # who started us may have it ignored
            signal.signal(number, _terminate)
    sys.exit(main(sys.argv[1:]))


_TERMINATING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """By a signal, cleaned up after as after Ctrl-C: no temporary folder and no program stays."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _TERMINATING:
        signal.signal(each, signal.SIG_IGN)  # a second one must not stop the cleaning up
    raise Terminated(number)


def main(argv: Sequence[str]) -> int:
    """Run one command line; never raises, never prints a traceback that is not our bug."""
    try:
        try:
            return _run(argv)
        finally:
            output.flush()
    except Problem as problem:
        output.tell(_words(problem))
        return problem.exit_code
    except BrokenPipeError:
        output.silence(sys.stdout)
        return 141  # 128 + SIGPIPE, as a shell says it
    except Terminated as terminated:
        output.say("terminated")
        return 128 + terminated.number
    except KeyboardInterrupt:
        output.say("interrupted")
        return 130  # 128 + SIGINT
    except Exception as error:
        return _unforeseen(error)


def _unforeseen(error: Exception) -> Exit:
    """The machine's limits, else our own bug."""
    if isinstance(error, MemoryError):
        error = OSError(errno.ENOMEM, "there is not enough memory")
    if isinstance(error, OSError) and error.errno in EXHAUSTED:
        output.say(f"this machine cannot go on: {error.strerror}")
        return Exit.UNAVAILABLE
    import traceback  # late, as difflib below: `eitherway cc` is called thousands of times

    output.tell("".join(traceback.format_exception(error)).rstrip())
    output.say("this is a bug in EitherWay, not in your program")
    return Exit.OUR_BUG


def _run(argv: Sequence[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        _overview().print_help()
        return Exit.OK if argv else Exit.USAGE
    if argv[0] in ("-V", "--version"):
        with output.to_stdout() as out:
            out.write(f"eitherway {__version__}\n")
        return Exit.OK
    verb = _verb(argv[0])
    if argv[0] in COMPILERS:
        return verb.run(argparse.Namespace(words=argv[1:]))
    parser = Parser(prog=f"eitherway {argv[0]}", description=verb.HELP, allow_abbrev=False)
    verb.add_arguments(parser)
    words, command = _split(argv[1:]) if getattr(verb, "TAKES_COMMAND", False) else (argv[1:], [])
    try:
        args = parser.parse_args(words, argparse.Namespace(command=command))
    except SystemExit:  # --help was shown
        return Exit.OK
    return verb.run(args)


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options, and the command behind `--`: argparse does not tell them apart behind a word."""
    at = words.index("--") if "--" in words else len(words)
    return list(words[:at]), list(words[at + 1 :])


def _verb(name: str) -> Verb:
    if name not in VERBS:
        import difflib

        close = difflib.get_close_matches(name, VERBS, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        kind = "option" if name.startswith("-") else "verb"
        raise UsageError(f"there is no {kind} '{name}'; {hint}verbs: {', '.join(VERBS)}")
    return cast(Verb, import_module(f"eitherway.cli.{COMPILERS.get(name, name)}"))


def _overview() -> argparse.ArgumentParser:
    width = max(map(len, VERBS))
    lines = [_folded(f"  {name:<{width}}  ", _verb(name).HELP) for name in VERBS]
    return Parser(
        prog="eitherway",
        usage="eitherway VERB [options]",
        description="Two operations race when nothing decides their order. EitherWay finds them.",
        epilog="\n".join(["verbs:", *lines, "", "eitherway VERB --help tells the options."]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _folded(title: str, words: str) -> str:
    import textwrap  # late, as above

    indent = " " * len(title)
    return textwrap.fill(words, 80, initial_indent=title, subsequent_indent=indent)


def _words(problem: Problem) -> str:
    lines = [f"eitherway: {problem.message}"]
    if problem.fix:
        lines.append(f"  try: {problem.fix}")
    if problem.instead:
        lines.append(f"  instead: {problem.instead}")
    return "\n".join(lines)
