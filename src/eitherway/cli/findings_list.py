# SPDX-License-Identifier: Apache-2.0
"""What all verbs do with the findings they have: suppress, compare, report, choose an exit code.

Files that the user names are read before any work starts, so that a typing mistake does not cost
the run; what is written is renamed into place, so that nothing half-written is left.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from eitherway.errors import Exit, UsageError
from eitherway.findings import baseline as baselines
from eitherway.findings import suppressions, verdict
from eitherway.findings.baseline import Baseline
from eitherway.findings.document import read_text
from eitherway.findings.merge import merged
from eitherway.findings.summary import summarized
from eitherway.findings.suppressions import Suppression
from eitherway.model.finding import Finding, Summary
from eitherway.model.words import Class
from eitherway.report import Report, report
from eitherway.report.text import TextReport, wants_colour

STDOUT = "-"
_LARGEST_EXIT_CODE = 255


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options about findings, the same for every verb that has some."""
    parser.add_argument("--json", metavar="FILE", help="write the findings as JSON ('-': stdout)")
    parser.add_argument(
        "--baseline", metavar="FILE", help="findings that are known: only new ones fail"
    )
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="write what was found as the known findings"
    )
    parser.add_argument(
        "--suppressions",
        metavar="FILE",
        action="append",
        default=[],
        help="leave out what this file in ThreadSanitizer's syntax names (may be repeated)",
    )
    parser.add_argument(
        "--no-default-suppressions",
        action="store_true",
        help="do not use the shipped ones for libstdc++ and glibc",
    )
    parser.add_argument(
        "--fail-on",
        metavar="CLASS,...",
        help="classes of new findings that fail, or 'none' (default: spec-violated, "
        "output-differs, unjudged)",
    )
    parser.add_argument(
        "--exitcode", metavar="N", type=_exit_code, default=int(Exit.FOUND),
        help="exit code when something fails (default: 1)",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """What the user asked for, read and checked."""

    known: Baseline
    suppressions: tuple[Suppression, ...]
    fail_on: frozenset[Class]
    found: int
    json: str
    write_baseline: str


def plan_of(args: argparse.Namespace) -> Plan:
    """Read the files that the options name."""
    lines = [] if args.no_default_suppressions else suppressions.defaults()
    for name in args.suppressions:
        lines += suppressions.parse(read_text(name), name)
    known = Baseline()
    if args.baseline:
        known = baselines.parse(read_text(args.baseline), args.baseline)
    return Plan(
        known=known,
        suppressions=tuple(lines),
        fail_on=verdict.parse_fail_on(args.fail_on) if args.fail_on else verdict.FAILING,
        found=args.exitcode,
        json=args.json or "",
        write_baseline=args.write_baseline or "",
    )


@dataclass(frozen=True, slots=True)
class Result:
    """The list that is left, what stands behind it, and the exit code it deserves."""

    findings: tuple[Finding, ...]
    summary: Summary
    exit_code: int


def result_of(plan: Plan, findings: Iterable[Finding], notes: Sequence[str] = ()) -> Result:
    """Merge, suppress, compare with the baseline."""
    sieved = suppressions.sieve(merged(findings), plan.suppressions)
    comparison = baselines.compare(sieved.kept, plan.known)
    summary = summarized(
        sieved.kept,
        comparison,
        suppressed=len(sieved.suppressed),
        unused_suppressions=[str(line) for line in sieved.unused()],
        notes=notes,
    )
    new = set() if plan.write_baseline else set(comparison.new)  # what is written is known
    code = verdict.exit_code(
        (finding.klass for finding in sieved.kept if finding.id in new),
        fail_on=plan.fail_on,
        found=plan.found,
    )
    return Result(sieved.kept, summary, code)


def deliver(plan: Plan, result: Result) -> None:
    """Write the files that were asked for, and say so."""
    if plan.write_baseline:
        text = baselines.written(result.findings)
        write_file(plan.write_baseline, lambda file: file.write(text))
        say(f"wrote {plan.write_baseline}; next: add --baseline {plan.write_baseline}")
    if plan.json:
        write_report(plan.json, report("json"), result)
    if plan.json and plan.json != STDOUT:
        say(f"wrote {plan.json}; next: eitherway report {plan.json}")


def show_text(plan: Plan, result: Result) -> None:
    """The report for people on standard output, unless that is for the JSON document alone."""
    if plan.json != STDOUT:
        colour = wants_colour(sys.stdout, os.environ)
        write_report(STDOUT, TextReport(colour=colour), result)


def write_report(target: str, how: Report, result: Result) -> None:
    """To a file, or to standard output for `-`."""
    write_file(target, lambda file: how.write(result.findings, result.summary, file))


def write_file(target: str, write: Callable[[TextIO], object]) -> None:
    """Complete or not at all; what a terminal's encoding cannot show is escaped."""
    if target == STDOUT:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        write(sys.stdout)
        return
    path = Path(os.path.realpath(target))  # through a symbolic link, not in its place
    try:
        if path.exists() and not path.is_file():  # /dev/null must stay what it is
            _write_to(path, write)
            return
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            _write_to(draft, write)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None


def _write_to(path: Path, write: Callable[[TextIO], object]) -> None:
    with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        write(file)


def say(words: str) -> None:
    """One line about what was done, away from the report."""
    print(f"eitherway: {words}", file=sys.stderr)


def _exit_code(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text[:4]) > _LARGEST_EXIT_CODE:
        raise argparse.ArgumentTypeError(f"'{text}' is not an exit code (0 to 255)")
    return int(text)
