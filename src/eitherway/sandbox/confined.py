# SPDX-License-Identifier: Apache-2.0
"""A sandbox for runs of a program in orders that nobody has tried: they may do anything."""

from collections.abc import Iterable, Sequence

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind, Limits

PROCESSES = 1024  # threads do not count: all of a process run on one


def confined(
    *, require: Iterable[Kind] = (), work: Sequence[str] = (), disk: int | None = None
) -> Sandbox:
    """With a limit to its processes; where this machine keeps none, its isolation says so."""
    required = tuple(require)
    try:
        limits = Limits(processes=PROCESSES, disk=disk)
        return Sandbox(limits=limits, require=required, work=work)
    except Unavailable as problem:  # of this limit, or of what is required: then it comes again
        why, limits = problem.message, Limits(disk=disk)
        return Sandbox(limits=limits, require=required, work=work, unlimited=why)
