# SPDX-License-Identifier: Apache-2.0
"""Baseline files: the findings that are known, so that only new ones fail.

    eitherway-baseline 1
    # comment
    EW-0123456789abcdef data-race on balance: bank.c:deposit / bank.c:withdraw

Made for review and for version control: one line per finding, sorted by id, and nothing in it that
changes when lines move. What follows the id is for people and is not read.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from eitherway.errors import BadInput
from eitherway.model.finding import Finding
from eitherway.model.identity import headline
from eitherway.model.text import printable

HEADER = "eitherway-baseline"
VERSION = 1
_ENTRY = re.compile(r"(EW-[0-9a-f]{16})(?:\s+(.*))?")


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known ids, each with its line for people."""

    known: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Findings against a baseline: ids that are new, still there, and gone."""

    new: tuple[str, ...]
    known: tuple[str, ...]
    gone: tuple[str, ...]


def compare(findings: Iterable[Finding], baseline: Baseline) -> Comparison:
    """Which of the findings are new, and which known ones were not seen."""
    ids = list(dict.fromkeys(finding.id for finding in findings))
    return Comparison(
        new=tuple(one for one in ids if one not in baseline.known),
        known=tuple(one for one in ids if one in baseline.known),
        gone=tuple(sorted(set(baseline.known) - set(ids))),
    )


def written(findings: Iterable[Finding]) -> str:
    """The text of a baseline file that knows these findings."""
    lines = sorted({f"{finding.id} {printable(headline(finding))}" for finding in findings})
    return "\n".join([f"{HEADER} {VERSION}", *lines, ""])


def parse(text: str, name: str) -> Baseline:
    """The baseline in this text; `name` is the file it came from."""
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    meant = [(number, line) for number, line in lines if line and not line.startswith("#")]
    _check_header(meant[0] if meant else (1, ""), name)
    return Baseline(dict(_entry(line, f"{name}:{number}") for number, line in meant[1:]))


def _check_header(first: tuple[int, str], name: str) -> None:
    number, line = first
    word, _, version = line.partition(" ")
    if word != HEADER:
        raise BadInput(
            f"{name}:{number}: a baseline file begins with '{HEADER} {VERSION}'",
            fix="eitherway report FINDINGS --write-baseline NEW-FILE writes one",
        )
    if version.strip() != str(VERSION):
        shown = printable(version.strip())[:20]
        newer = version.strip().isdecimal() and int(version.strip()[:9]) > VERSION
        raise BadInput(
            f"{name}:{number}: baseline version '{shown}'; this tool knows {VERSION}",
            fix="pip install --upgrade eitherway" if newer else "",
        )


def _entry(line: str, where: str) -> tuple[str, str]:
    found = _ENTRY.fullmatch(line)
    if found is None:
        raise BadInput(
            f"{where}: '{printable(line)[:60]}' does not begin with a finding id "
            "(EW- and 16 hexadecimal digits)"
        )
    return found[1], found[2] or ""
