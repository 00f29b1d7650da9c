# SPDX-License-Identifier: Apache-2.0
"""What all verbs do with the findings they have: suppress, compare, report, choose an exit code.

Files that the user names are read, and folders to write to looked at, before any work starts: a
typing mistake must not cost the run.
"""

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from eitherway.cli import arguments, output
from eitherway.cli.output import STDOUT
from eitherway.errors import Exit, UsageError
from eitherway.findings import baseline as baselines
from eitherway.findings import suppressions, verdict, without_lines
from eitherway.findings.baseline import Baseline
from eitherway.findings.code import Sources, with_code
from eitherway.findings.document import read_text
from eitherway.findings.merge import merged
from eitherway.findings.summary import summarized
from eitherway.findings.suppressions import Suppression
from eitherway.model.finding import Finding, Summary
from eitherway.model.words import Class
from eitherway.report import REPORTS, Report, report
from eitherway.report.text import TextReport, wants_colour

Target = tuple[str, str]  # the form of a report, and its file


def report_targets(text: str) -> list[Target]:
    """`html=FILE,sarif=FILE`; a comma in the name of a file is no end of it."""
    form = "|".join(REPORTS)
    targets = []
    for part in re.split(rf",(?=(?:{form})=)", text):
        name, _, file = part.partition("=")
        if name not in REPORTS or not file:
            raise argparse.ArgumentTypeError(
                f"'{part}' is not FORM=FILE; forms: {', '.join(REPORTS)}"
            )
        targets.append((name, file))
    return targets


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options about findings, the same for every verb that has some."""

    def add_file(option: str, **more: Any) -> None:
        parser.add_argument(option, metavar="FILE", type=arguments.file_name, **more)

    add_file("--json", help="write the findings as JSON ('-': stdout)")
    parser.add_argument(
        "--report",
        metavar="FORM=FILE,...",
        type=report_targets,
        action="append",
        default=[],
        help=f"write reports too ({', '.join(REPORTS)}; '-': stdout; may be repeated)",
    )
    parser.add_argument(
        "--source-dir",
        metavar="DIR",
        type=arguments.file_name,
        action="append",
        default=[],
        help="where source files are that are not where they were built (may be repeated)",
    )
    add_file("--baseline", help="findings that are known: only new ones fail")
    add_file("--write-baseline", help="write what was found as the known findings")
    add_file(
        "--suppressions",
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
        "--exitcode", metavar="N", type=arguments.exit_code, default=int(Exit.FOUND),
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
    reports: tuple[Target, ...] = ()
    sources: Sources = field(default_factory=Sources)
    quiet: bool = False  # standard output is for something else yet

    @property
    def files(self) -> list[str]:
        """What is to be written."""
        return [self.json, self.write_baseline, *(file for _, file in self.reports)]

    @property
    def takes_stdout(self) -> bool:
        """Whether a document or report is to be on standard output, and nothing else."""
        return self.quiet or STDOUT in (self.json, *(file for _, file in self.reports))


def check_apart(files: Iterable[str | None]) -> None:
    """Refuse a file that is to be written twice: the second report would replace the first."""
    named = [file for file in files if file and file != STDOUT and not output.is_special(file)]
    for file, count in Counter(map(os.path.realpath, named)).items():
        if count > 1:
            raise UsageError(
                f"{file} is to be written {count} times; give each report its own file"
            )


def plan_of(args: argparse.Namespace) -> Plan:
    """Read the files that the options name, and see whether the others can be written."""
    reports = tuple(target for targets in args.report for target in targets)
    files = [args.json, args.write_baseline, *(file for _, file in reports)]
    if files.count(STDOUT) > 1:
        raise UsageError("only one of --json and --report can have standard output ('-')")
    for target in filter(None, files):
        output.check_target(target)
    check_apart(files)
    lines = [] if args.no_default_suppressions else suppressions.defaults()
    for name in args.suppressions:
        lines += suppressions.parse(read_text(name), name)
    known = Baseline()
    if args.baseline:
        known = baselines.parse(read_text(args.baseline), args.baseline)
    return Plan(
        known=known,
        suppressions=tuple(lines),
        fail_on=verdict.FAILING if args.fail_on is None else verdict.parse_fail_on(args.fail_on),
        found=args.exitcode,
        json=args.json or "",
        write_baseline=args.write_baseline or "",
        reports=reports,
        sources=Sources(args.source_dir),
    )


@dataclass(frozen=True, slots=True)
class Result:
    """The list that is left, what stands behind it, and the exit code it deserves."""

    findings: tuple[Finding, ...]
    summary: Summary
    exit_code: int


def result_of(
    plan: Plan,
    findings: Iterable[Finding],
    notes: Sequence[str] = (),
    *,
    gone: Sequence[str] | None = None,
) -> Result:
    """Merge, suppress, compare with the baseline; `gone` where it is known by other means."""
    sieved = suppressions.sieve(merged(findings), plan.suppressions)
    kept = with_code(sieved.kept, plan.sources)
    comparison = baselines.compare(kept, plan.known)
    if gone is not None:
        comparison = replace(comparison, gone=tuple(gone))
    new = set() if plan.write_baseline else set(comparison.new)  # what is written is known
    summary = summarized(
        kept,
        comparison,
        suppressed=len(sieved.suppressed),
        unused_suppressions=[str(line) for line in sieved.unused()],
        notes=[*notes, *without_lines.advice(kept)],
        failing=verdict.failing(kept, new, plan.fail_on),
    )
    code = verdict.exit_code(
        (finding.klass for finding in kept if finding.id in new),
        fail_on=plan.fail_on,
        found=plan.found,
    )
    return Result(kept, summary, code)


def deliver(plan: Plan, result: Result, show: Callable[[], None]) -> None:
    """Show the report, then write the files that were asked for, and say so.

    In this order, and each whatever became of the others: what cannot be written must not cost what
    was found.
    """
    output.all_of(
        show,
        lambda: _write_baseline(plan, result),
        lambda: _write_json(plan.json, result),
        *(partial(_write_report, target, result) for target in plan.reports),
    )


def show_text(plan: Plan, result: Result) -> None:
    """The report for people on standard output, unless that is for something else alone."""
    if not plan.takes_stdout:
        colour = wants_colour(sys.stdout, os.environ)
        write_report(STDOUT, TextReport(colour=colour), result)


def write_report(target: str, how: Report, result: Result) -> None:
    """To a file, or to standard output for `-`."""
    output.write_file(target, lambda file: how.write(result.findings, result.summary, file))


def _write_baseline(plan: Plan, result: Result) -> None:
    if target := plan.write_baseline:
        text = baselines.written(result.findings)
        output.write_file(target, lambda file: file.write(text))
        output.say(f"wrote {target}; next: add --baseline {target}")


def _write_report(target: Target, result: Result) -> None:
    form, file = target
    write_report(file, report(form), result)
    if file != STDOUT:
        output.say(f"wrote {file}")


def _write_json(target: str, result: Result) -> None:
    if target:
        write_report(target, report("json"), result)
    if target and target != STDOUT:
        output.say(f"wrote {target}; next: eitherway report {target}")
