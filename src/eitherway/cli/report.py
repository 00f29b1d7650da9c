# SPDX-License-Identifier: Apache-2.0
"""`eitherway report`: saved findings of many runs as one list, in the form asked for."""

import argparse

from eitherway.cli import arguments, findings_list, output
from eitherway.cli.inputs import Inputs
from eitherway.errors import Exit, UsageError
from eitherway.findings.agreeing import agreed
from eitherway.findings.merge import merged
from eitherway.model.text import printable
from eitherway.report import REPORTS, report

HELP = "merge saved findings and logs of other tools, and show them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        type=arguments.file_name,
        help="findings written with --json, or logs of other tools ('-': stdin)",
    )
    parser.add_argument(
        "--trace",
        metavar="DIR",
        type=arguments.file_name,
        help="list the operations of a run that was traced instead",
    )
    parser.add_argument(
        "--incomplete", action="store_true", help="of a trace that was broken off, what is whole"
    )
    parser.add_argument(
        "--allow-clean",
        action="store_true",
        help="accept logs in which there is no report of any tool",
    )
    parser.add_argument(
        "--format", choices=tuple(REPORTS), default="text", help="form of the report"
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=arguments.file_name,
        default="-",
        help="where to (default: stdout)",
    )
    findings_list.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Read, merge, report."""
    _check(args)
    if args.trace:
        return _list(args.trace, args.output, incomplete=args.incomplete)
    plan = findings_list.plan_of(args)
    if plan.takes_stdout and args.output == "-" and args.format != "text":
        raise UsageError(
            f"--format {args.format} is not alone on standard output; drop one, or add --output"
        )
    inputs = Inputs(args.files, allow_clean=args.allow_clean)
    findings = agreed(merged(inputs.findings()))
    result = findings_list.result_of(plan, findings, inputs.notes)
    findings_list.deliver(plan, result, lambda: _show(args, plan, result))
    for problem in inputs.problems:
        raise problem
    return result.exit_code


def _check(args: argparse.Namespace) -> None:
    if bool(args.files) == bool(args.trace):
        raise UsageError("give files of findings, or --trace DIR")
    if args.incomplete and not args.trace:
        raise UsageError("--incomplete is about traces; findings are whole")
    if args.allow_clean and args.trace:
        raise UsageError("--allow-clean is about logs; --trace reads none")
    if args.files.count("-") > 1:
        raise UsageError("standard input ('-') can be read only once")
    output.check_target(args.output)


def _list(directory: str, target: str, *, incomplete: bool) -> int:
    # late: NumPy and the symbols are not needed for findings
    from eitherway.recording.read import Recording
    from eitherway.worlds.threads.listing import listing

    with Recording.open(directory, incomplete=incomplete) as recording:
        lines = (f"{printable(line)}\n" for line in listing(recording))
        output.write_file(target, lambda file: file.writelines(lines))
        for loss in recording.losses:
            output.say(loss)
    return Exit.OK


def _show(args: argparse.Namespace, plan: findings_list.Plan, result: findings_list.Result) -> None:
    if args.format == "text" and args.output == "-":
        findings_list.show_text(plan, result)
        return
    findings_list.write_report(args.output, report(args.format), result)
    if args.output != "-":
        again = f"; next: eitherway report {args.output}" if args.format == "json" else ""
        output.say(f"wrote {args.output}{again}")
