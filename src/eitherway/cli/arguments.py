# SPDX-License-Identifier: Apache-2.0
"""Types of arguments that several verbs take, each with the message when it does not fit."""

import argparse
import os

_LARGEST_EXIT_CODE = 255
_MOST_JOBS = 256  # each is a sandbox and a program that waits in it: that takes seconds to start
LARGEST_SEED = 2**63 - 1  # the runtime's seeds have 64 bits: a row of them from any one still fits


def seed(text: str) -> int:
    """The number of a schedule."""
    return _whole_number(text, LARGEST_SEED, "a seed")


def exit_code(text: str) -> int:
    """What a process can end with."""
    return _whole_number(text, _LARGEST_EXIT_CODE, "an exit code")


def count(text: str) -> int:
    """How many of something, at least one."""
    return _at_least_one(text, 2**32, "a count")


def jobs(text: str) -> int:
    """How many are at work at a time."""
    return _at_least_one(text, _MOST_JOBS, "a number of jobs")


def add_jobs(parser: argparse.ArgumentParser, what: str) -> None:
    """The option that says how many of them."""
    parser.add_argument(
        "--jobs",
        type=jobs,
        default=len(os.sched_getaffinity(0)),
        metavar="N",
        help=f"{what} (default: one for each processor)",
    )


def seconds(text: str) -> float:
    """A time that is more than none."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return number


def file_name(text: str) -> str:
    """A file, or `-`; a script's empty variable is neither."""
    if not text:
        raise argparse.ArgumentTypeError("the name of a file must not be empty")
    return text


def _at_least_one(text: str, largest: int, what: str) -> int:
    number = _whole_number(text, largest, what)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: at least 1 is needed")
    return number


def _whole_number(text: str, largest: int, what: str) -> int:
    digits = text.lstrip("0") or "0"
    sound = text.isascii() and text.isdigit() and len(digits) <= len(str(largest))
    if not sound or int(digits) > largest:
        shown = text if len(text) <= 40 else text[:40] + "..."
        raise argparse.ArgumentTypeError(f"'{shown}' is not {what} (0 to {largest})")
    return int(digits)
