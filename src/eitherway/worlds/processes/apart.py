# SPDX-License-Identifier: Apache-2.0
"""Where a tree runs: apart from the user's files and processes, or as far as a machine permits."""

from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import ALL, Kind
from eitherway.worlds.threads.launch import Launch

_NEEDED = (Kind.FILES, Kind.PROCESSES)  # to begin anew with the same files and numbers


def apart(launch: Launch) -> Sandbox:
    """Refused where a run could not be done again."""
    return Sandbox(require=_NEEDED, work=[launch.directory])


def as_permitted(launch: Launch) -> Sandbox:
    """As much of it as there is, which may be nothing."""
    return Sandbox(require=(), work=[launch.directory])


def among_own(launch: Launch) -> Sandbox:
    """A run like any other, which is only looked at: what it does stays done."""
    return Sandbox(require=(), without=ALL, work=[launch.directory])


def is_kept(box: Sandbox) -> bool:
    """Whether what a run does in it is wanted to stay."""
    return Kind.FILES in box.without


def lacking(box: Sandbox) -> str:
    """Why a run in it cannot be done again, by this machine's own account; empty when it can."""
    if is_kept(box):
        return "it runs among your own files and processes, and what it does stays (--keep)"
    missing = [kind for kind in _NEEDED if kind in box.isolation.missing]
    if not missing:
        return ""
    reasons = dict.fromkeys(box.isolation.of(kind).why for kind in missing)
    return f"{' and '.join(missing)} cannot be kept apart here: {'; '.join(reasons)}"


def is_on_own_files(box: Sandbox) -> bool:
    """Whether what a run writes is written."""
    return Kind.FILES in box.isolation.missing
