# SPDX-License-Identifier: Apache-2.0
"""`eitherway report`: saved findings of many runs as one list, in the form asked for."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from eitherway import __version__
from eitherway.cli import arguments, findings_list, output
from eitherway.cli.inputs import Inputs
from eitherway.errors import Exit, UsageError
from eitherway.findings import suppressing
from eitherway.findings.agreeing import agreed
from eitherway.findings.baseline import Baseline
from eitherway.findings.code import with_code
from eitherway.findings.kept import grown, held
from eitherway.findings.merge import merged
from eitherway.model.document import lines_of
from eitherway.model.finding import Document, Finding, Summary
from eitherway.model.text import counted, printable
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
    parser.add_argument(
        "--merge",
        metavar="LIST",
        type=arguments.file_name,
        help="add what is read to the list in this file; only what is new to it fails",
    )
    parser.add_argument(
        "--gen-suppressions",
        metavar="FILE",
        type=arguments.file_name,
        help="write suppressions for the findings that are marked ('-': stdout)",
    )
    parser.add_argument(
        "--mark",
        metavar="ID",
        action="append",
        default=[],
        help="a finding to suppress; without any, all of them (may be repeated)",
    )
    findings_list.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Read, merge, report."""
    _check(args)
    if args.trace:
        return _list(args.trace, args.output, incomplete=args.incomplete)
    plan = findings_list.plan_of(args)
    findings_list.check_apart([*plan.files, args.output, args.merge, args.gen_suppressions])
    if args.gen_suppressions == "-" and args.format == "text" and args.output == "-":
        plan = replace(plan, quiet=True)
    if plan.takes_stdout and args.output == "-" and args.format != "text":
        raise UsageError(
            f"--format {args.format} is not alone on standard output; drop one, or add --output"
        )
    inputs = Inputs(args.files, allow_clean=args.allow_clean)
    if args.merge:
        result = _merge(args, plan, inputs)
    else:
        findings = agreed(merged(inputs.findings()))
        inputs.check()
        result = findings_list.result_of(plan, findings, inputs.notes)
        _deliver(args, plan, result)
    for problem in inputs.problems:
        raise problem
    return result.exit_code


def _merge(
    args: argparse.Namespace, plan: findings_list.Plan, inputs: Inputs
) -> findings_list.Result:
    """Into the list of that file; what it has already is known, as in a baseline."""
    with held(args.merge) as before:
        list_ = grown(before, inputs.findings())
        inputs.check()
        every = with_code(list_.findings, plan.sources)
        known = {**plan.known.known, **dict.fromkeys(list_.known, "")}
        result = findings_list.result_of(
            replace(plan, known=Baseline(known)), every, inputs.notes, gone=list_.quiet
        )
        document = Document(every, Summary(findings=len(every)), "eitherway", __version__)
        output.all_of(
            lambda: _deliver(args, plan, result),
            lambda: output.write_file(args.merge, lambda f: f.writelines(lines_of(document))),
        )
    many = counted(len(every), "finding")
    output.say(f"{args.merge} has {many}; next: eitherway report {args.merge}")
    return result


def _deliver(
    args: argparse.Namespace, plan: findings_list.Plan, result: findings_list.Result
) -> None:
    output.all_of(
        lambda: findings_list.deliver(plan, result, lambda: _show(args, plan, result)),
        lambda: _suppress(args, result.findings),
    )


def _suppress(args: argparse.Namespace, findings: Sequence[Finding]) -> None:
    if not args.gen_suppressions:
        return
    known = {finding.id for finding in findings}
    for one in args.mark:
        if one not in known:
            raise UsageError(f"--mark: the list has no finding '{one}'")
    marked = [f for f in findings if f.id in args.mark or not args.mark]
    text = suppressing.written(marked, findings)
    output.write_file(args.gen_suppressions, lambda file: file.write(text))
    if args.gen_suppressions != "-":
        target = args.gen_suppressions
        output.say(f"wrote {target}; next: add --suppressions {target}")


def _check(args: argparse.Namespace) -> None:
    if bool(args.files) == bool(args.trace):
        raise UsageError("give files of findings, or --trace DIR")
    if args.incomplete and not args.trace:
        raise UsageError("--incomplete is about traces; findings are whole")
    if args.allow_clean and args.trace:
        raise UsageError("--allow-clean is about logs; --trace reads none")
    if args.mark and not args.gen_suppressions:
        raise UsageError("--mark says what --gen-suppressions is to write; add that")
    if args.files.count("-") > 1:
        raise UsageError("standard input ('-') can be read only once")
    for target in filter(None, (args.output, args.merge, args.gen_suppressions)):
        output.check_target(target)


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
