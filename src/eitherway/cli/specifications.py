# SPDX-License-Identifier: Apache-2.0
"""Options with which a user says what a run must do."""

import argparse
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from eitherway.cli import arguments
from eitherway.errors import BadInput, UsageError

if TYPE_CHECKING:
    from eitherway.find.specification import Specification
    from eitherway.find.tree_rules import Rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of the verbs that judge."""
    group = parser.add_argument_group("what a run must do, in either order")
    group.add_argument(
        "--expect-output",
        metavar="FILE",
        type=arguments.file_name,
        help="write this to standard output",
    )
    group.add_argument(
        "--checker",
        metavar="CMD",
        help="satisfy CMD (words, no shell), which reads what was written to standard output and "
        "ends with 0 when it is content; of processes, it sees the files that the branch left",
    )
    group.add_argument(
        "--ignore-output",
        metavar="REGEX",
        action="append",
        default=[],
        help="lines of output that say nothing (may be repeated)",
    )
    group.add_argument(
        "--expect-same",
        metavar="PATH",
        action="append",
        default=[],
        type=arguments.file_name,
        help="of processes: leave this file or directory as the recorded run did (may be repeated)",
    )


def rules_of(args: argparse.Namespace, specification: "Specification") -> "Rules":
    """The same for a tree of processes, whose checker looks at the files of each branch."""
    from eitherway.find.tree_rules import Rules

    return Rules(specification, tuple(str(Path(path).absolute()) for path in args.expect_same))


def specification_of(args: argparse.Namespace) -> "Specification":
    """What the options ask for; what cannot be read is refused before anything runs."""
    from eitherway.find.specification import Specification
    from eitherway.worlds.threads.driver import parse_command

    checker = parse_command(args.checker, "checker") if args.checker is not None else ()
    if checker and shutil.which(checker[0]) is None:
        raise UsageError(f"the checker {checker[0]} is no command that can be started")
    ignored = tuple(_pattern(text) for text in args.ignore_output)
    expected = None if args.expect_output is None else _content(args.expect_output)
    return Specification(ignored, expected, checker)


def _pattern(text: str) -> "re.Pattern[bytes]":
    try:
        return re.compile(os.fsencode(text))
    except re.error as problem:
        raise UsageError(f"--ignore-output '{text}' is no regular expression: {problem}") from None


def _content(name: str) -> bytes:
    """Not more of it than is kept of an output: a device may have no end."""
    from eitherway.worlds.threads.captured import KEPT  # late: NumPy comes with it

    try:
        with Path(name).open("rb") as file:
            content = file.read(KEPT + 1)
    except OSError as problem:
        raise BadInput(f"{name} cannot be read: {problem.strerror}") from None
    if len(content) > KEPT:
        raise BadInput(f"{name} has more than {KEPT:,} bytes: output is looked at as far as that")
    return content
