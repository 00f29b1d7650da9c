# SPDX-License-Identifier: Apache-2.0
"""`eitherway doctor`: what this machine can do for each world, and what adds the rest."""

import argparse
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eitherway import __version__
from eitherway.cli import arguments, output
from eitherway.errors import Exit, Unavailable
from eitherway.machine.capability import Capability, Fix, State, Way
from eitherway.machine.document import document
from eitherway.machine.fixes import commands
from eitherway.machine.host import Host
from eitherway.machine.roles import Chosen, Grade
from eitherway.machine.survey import Survey, Verdict, WorldState, survey
from eitherway.model.text import printable
from eitherway.model.words import World
from eitherway.report.text import wants_colour

TRAILING_BLANKS = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
FLAG = re.compile(r"(--[a-z-]+) (?=\w)")
COMMANDS = frozenset({Way.PACKAGES, Way.FLAGS, Way.COMMAND})
URGENCY = (Grade.NONE, Grade.FALLBACK, Grade.BEST)
HELP = "what this machine can do, what is missing, and the command that adds it"
DEFAULT = (World.THREADS, World.PROCESSES)

COLOURS = {
    Verdict.READY: "green",
    Verdict.FALLBACKS: "yellow",
    Verdict.CANNOT: "bold red",
    Grade.BEST: "green",
    Grade.FALLBACK: "yellow",
    Grade.NONE: "bold red",
    State.YES: "green",
    State.PARTLY: "yellow",
    State.NO: "red",
    State.UNKNOWN: "magenta",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `eitherway doctor`."""
    parser.add_argument(
        "--world",
        action="append",
        choices=[str(world) for world in World],
        help="the world to look at; may be given again (default: threads and processes)",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        type=arguments.file_name,
        help="write the whole table; - is standard output",
    )
    parser.add_argument("--all", action="store_true", help="show every probe, not only conclusions")


def run(args: argparse.Namespace) -> int:
    """Probe, show, and end with 69 when a world that was asked for cannot work."""
    asked = tuple(map(World, args.world)) if args.world else DEFAULT
    if args.json:
        output.check_target(args.json)
    found = survey()
    if args.json != output.STDOUT:
        show(found, asked, everything=args.all, chosen=bool(args.world))
    if args.json:
        _write(document(found), args.json)
    _refuse(found, asked)
    return Exit.OK


def _write(contents: dict[str, object], target: str) -> None:
    text = json.dumps(contents, indent=2) + "\n"
    output.write_file(target, lambda file: file.write(text))
    if target != output.STDOUT:
        print(f"wrote {printable(target)}")


def _refuse(found: Survey, asked: Sequence[World]) -> None:
    """Raise when an asked world cannot work, with the command that would let it."""
    states = [found.world(world) for world in asked]
    cannot = [state for state in states if state.verdict is Verdict.CANNOT]
    if not cannot:
        return
    reasons = "; ".join(f"{state.world}: {', '.join(_causes(state, found))}" for state in cannot)
    blocking = [c for state in cannot for c in state.to_name()]
    fixes = (found.capability(name).fix for c in blocking for name in c.lacking)
    raise Unavailable(
        f"this machine cannot do what was asked ({reasons})",
        fix="; ".join(commands(fixes, found.host)),
    )


def _causes(state: WorldState, found: Survey) -> Iterator[str]:
    for chosen in state.to_name():
        yield f"no {chosen.role.name}: {_reasons(chosen, found)}"


def _reasons(chosen: Chosen, found: Survey) -> str:
    """What the probes of the lacking capabilities saw, each thing said once."""
    seen = [found.capability(name).seen for name in chosen.lacking]
    by_error: dict[str, dict[str, None]] = {}
    for answer in seen:
        by_error.setdefault(answer.error, {})[answer.detail] = None
    return "; ".join(
        f"{error}: {', '.join(details)}" if error else "; ".join(details)
        for error, details in by_error.items()
    )


def show(found: Survey, asked: Sequence[World], *, everything: bool, chosen: bool) -> None:
    """Print the conclusions, worst first, then what to do about them."""
    # Without colours rich would still send bold and dim; with no colour system it sends nothing.
    coloured = wants_colour(sys.stdout, os.environ)
    console = Console(highlight=False, color_system="auto" if coloured else None)
    with console.capture() as captured:
        console.print(*_headline(found.host), sep="\n")
        console.print(_verdicts(found, asked if chosen else tuple(World), asked))
        for world in asked:
            _section(console, str(world), _roles(found.world(world), found))
        if everything:
            _section(console, "every probe", _probes(found.capabilities, asked))
        _advise(console, found, asked)
        _end(console, found, everything=everything)
    # Rich fills the cells of a table with blanks, which are in the way when the text is copied.
    with output.to_stdout() as out:
        out.write(TRAILING_BLANKS.sub(r"\1", captured.get()))


def _section(console: Console, title: str, table: Table) -> None:
    console.print()
    console.print(Text(title, style="bold"))
    console.print(Padding(table, (0, 0, 0, 2)))


def _headline(host: Host) -> Iterator[Text]:
    who = "root" if host.root else "not root"
    yield Text(f"EitherWay {__version__} on {host.system}, {who}", style="bold")
    notes = [f"Linux {host.kernel} {host.architecture}"]
    if host.container:
        notes.append(f"looks like a {host.container} container ({', '.join(host.signs)})")
    if host.filtered:
        notes.append("a seccomp filter is in force")
    yield Text("; ".join(notes), style="dim")
    yield Text()


def _grid(*widths: int) -> Table:
    """Columns without lines; the last one takes what is left and wraps."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), expand=False)
    for width in widths:
        table.add_column(min_width=width, no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _verdicts(found: Survey, shown: Sequence[World], asked: Sequence[World]) -> Table:
    table = _grid(10)
    for world in shown:
        state = found.world(world)
        line = Text(str(state.verdict), style=COLOURS[state.verdict])
        if weak := [c.role.name for c in state.to_name()]:
            line.append(": " + ", ".join(weak), style="not bold default")
        if world not in asked:
            line.append(f"  (doctor --world {world})", style="dim")
        table.add_row(Text(str(world), style="bold"), line)
    return table


def _roles(state: WorldState, found: Survey) -> Table:
    table = _grid(13, 8)
    for chosen in sorted(state.chosen, key=_urgency):
        optional = _urgency(chosen) == len(URGENCY)
        word, colour = ("optional", "dim") if optional else (chosen.grade, COLOURS[chosen.grade])
        table.add_row(chosen.role.name, Text(word, style=colour), _in_force(chosen, found))
    return table


def _urgency(chosen: Chosen) -> int:
    """Worst first, what nobody needs last."""
    if chosen.role.extra and chosen.grade is not Grade.BEST:
        return len(URGENCY)
    return URGENCY.index(chosen.grade)


def _in_force(chosen: Chosen, found: Survey) -> Text:
    text = Text(chosen.in_force)
    if chosen.grade is Grade.BEST:
        return text
    if chosen.lacking:
        text.append(f"\nbecause: {_reasons(chosen, found)}", style="dim")
    return text.append(f"\nlost: {chosen.lost}", style="dim")


def _probes(rows: Iterable[Capability], asked: Sequence[World]) -> Table:
    table = _grid(17, 7)
    for row in rows:
        if not row.worlds or set(row.worlds) & set(asked):
            state = Text(row.seen.state, style=COLOURS[row.seen.state])
            table.add_row(row.name, state, _probe(row))
    return table


def _probe(row: Capability) -> Text:
    error = f" ({row.seen.error})" if row.seen.error else ""
    text = Text(f"{row.purpose}: {row.seen.detail}{error}")
    if row.missing:
        text.append(f"\nlost: {row.lost}\nmissing: {row.missing}", style="dim")
    if row.fix.way in COMMANDS:
        text.append(f"\nadd: {row.command}")
    return text


def _advise(console: Console, found: Survey, asked: Sequence[World]) -> None:
    """Commands that would better what is in force, each with the jobs it betters."""
    better: dict[Fix, list[str]] = {}
    for chosen in (c for world in asked for c in found.world(world).chosen):
        for fix in (found.capability(name).fix for name in chosen.lacking):
            if fix.way in COMMANDS or not chosen.role.extra:
                better.setdefault(fix, []).append(chosen.role.name)
    commanded = [fix for fix in better if fix.way in COMMANDS]
    others = [fix for fix in better if fix.way is Way.WORDS]
    for title, fixes in (("To better it", commanded), ("What no command adds", others)):
        if fixes:
            console.print()
            console.print(Text(title, style="bold"))
        for part in _parts(fixes):
            roles = dict.fromkeys(role for fix in part for role in better[fix])
            _print_fix(console, part, roles, found.host)


def _parts(fixes: Sequence[Fix]) -> Iterator[list[Fix]]:
    """What goes into one command: all packages, all flags, each of the others alone."""
    for way in (Way.PACKAGES, Way.FLAGS):
        if together := [fix for fix in fixes if fix.way is way]:
            yield together
    yield from ([fix] for fix in fixes if fix.way in (Way.COMMAND, Way.WORDS))


def _print_fix(console: Console, part: list[Fix], roles: Iterable[str], host: Host) -> None:
    for command in commands(part, host):
        lines = _folded(command, console.width - 6)
        # A broken line must still be a command that can be pasted.
        joint = "\n  " if part[0].way is Way.WORDS else " \\\n  "
        console.print(Padding(Text(joint.join(lines)), (0, 0, 0, 2)))
    console.print(Padding(Text(f"for {', '.join(roles)}", style="dim"), (0, 0, 0, 6)))


def _folded(command: str, width: int) -> list[str]:
    """Broken at blanks, but not between a flag and its value."""
    whole = FLAG.sub("\\1\N{NO-BREAK SPACE}", command)
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _end(console: Console, found: Survey, *, everything: bool) -> None:
    console.print()
    unbuilt = [str(state.world) for state in found.worlds if not state.built]
    if unbuilt:
        console.print(
            f"This is what the machine can do. EitherWay {__version__} does not yet run your "
            f"programs in: {', '.join(unbuilt)}."
        )
    if not everything:
        console.print(f"All {len(found.capabilities)} probes: eitherway doctor --all")
