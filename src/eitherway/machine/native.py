# SPDX-License-Identifier: Apache-2.0
"""Asks eitherway-probe, which does what Python cannot, and reads its one line."""

from pathlib import Path

from eitherway.machine.capability import Seen, State
from eitherway.machine.run import run

# The probe's own limit is 2 s; this one is for a probe that cannot even count time.
PROBE_SECONDS = 3.0


def ask(program: Path, name: str, limit: float = PROBE_SECONDS) -> Seen:
    """Run one probe; whatever happens to it is an answer."""
    try:
        ran = run([str(program), name], limit=limit)
    except OSError as problem:
        return Seen(State.UNKNOWN, f"{program.name} does not start: {problem.strerror}")
    if ran.status is None:
        return Seen(State.UNKNOWN, f"no answer within {limit:g} s")
    if ran.status != 0:
        return Seen(State.UNKNOWN, f"{program.name} ended with {ran.status}")
    return parse(ran.output)


def parse(output: str) -> Seen:
    """`yes TEXT`, `partly TEXT`, `unknown TEXT` or `no ERRNO TEXT`; ERRNO is - for none."""
    line = output.removesuffix("\n")
    state, _, rest = line.partition(" ")
    if "\n" in line or state not in tuple(State):
        return Seen(State.UNKNOWN, f"the probe answered {line[:60]!r}")
    if state != State.NO:
        return Seen(State(state), rest)
    error, _, detail = rest.partition(" ")
    return Seen(State.NO, detail, "" if error == "-" else error)
