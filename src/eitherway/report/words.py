# SPDX-License-Identifier: Apache-2.0
"""What all reports call things."""

from collections.abc import Sequence

from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.identity import objects, own_frame, sides
from eitherway.model.words import NEVER_RETURNED, OURS, Class, Kind

TITLES = {
    Kind.DATA_RACE: "data race",
    Kind.LOAD_STORE: "load-store race",
    Kind.WAIT_WAKEUPS: "wait-wakeups race",
    Kind.WAKEUP_WAITS: "wakeup-waits race",
    Kind.TOCTOU: "time-of-check-to-time-of-use race",
    Kind.ATOMICITY: "atomicity violation",
    Kind.DEADLOCK: "lock-order-inversion (potential deadlock)",
    Kind.LOST_WAKEUP: "lost wake-up",
    Kind.LOCK_MISUSE: "misuse of a lock",
    Kind.MEMORY_ERROR: "memory error",
    Kind.THREAD_LEAK: "thread leak",
    Kind.SIGNAL_MISUSE: "unsafe work in a signal handler",
    Kind.HANG: "hang",
    Kind.FAILURE: "order-dependent failure",
}
MEANINGS = {
    Class.SPEC_VIOLATED: "the other order breaks the program",
    Class.OUTPUT_DIFFERS: "the other order changes the output",
    Class.UNJUDGED: "what the other order does is not known",
    Class.INCONCLUSIVE: "the other order was tried without a result",
    Class.K_WITNESS_HARMLESS: "no difference in any of the ways tried",
    Class.SINGLE_ORDERING: "the other order did not come in any of the ways tried",
}


def title(finding: Finding) -> str:
    """What it is, in a few words."""
    if finding.kind is Kind.FAILURE and not _is_ours(finding):
        return "crash"  # of which another tool does not know what it depends on
    happened = finding.kind is Kind.DEADLOCK and finding.consequence and _is_ours(finding)
    return "deadlock" if happened or is_stuck(finding) else TITLES[finding.kind]


def knows_locks(finding: Finding) -> bool:
    """Whether "no lock" was seen; some tools do not look at what is held."""
    return _is_ours(finding) or any(operation.locks for operation in finding.operations)


def _is_ours(finding: Finding) -> bool:
    return not finding.sources or any(source.tool == OURS for source in finding.sources)


def is_stuck(finding: Finding) -> bool:
    """A deadlock that happened, told by what threads wait for: there need be no ring of locks."""
    ends = [operation.op.endswith(NEVER_RETURNED) for operation in finding.operations]
    return finding.kind is Kind.DEADLOCK and (all(ends) if ends else _is_ours(finding))


def about(finding: Finding) -> str:
    """What is raced on: "balance", "heap block"."""
    return ", ".join(objects(finding))


def functions(finding: Finding) -> str:
    """The functions of all sides, each once: "deposit / audit"."""
    names = (name.rpartition(":")[2] if ":" in name else name for name in sides(finding))
    return " / ".join(dict.fromkeys(names))


def sentence(finding: Finding) -> str:
    """One line that says what, on what, and where."""
    touched, where = about(finding), functions(finding)
    on = f" on {touched}" if touched else ""
    return f"{title(finding)}{on}{f' in {where}' if where else ''}"


def in_module(frame: Frame) -> str:
    """Where in which program; a process is known by its program alone."""
    return f"{frame.module}+{frame.offset:#x}" if frame.offset else frame.module


def place(frame: Frame) -> str:
    """`file:line:column`, as far as known."""
    if not frame.file or not frame.line:
        return frame.file
    column = f":{frame.column}" if frame.column else ""
    return f"{frame.file}:{frame.line}{column}"


def where(operation: FoundOperation) -> Frame:
    """The place of the program itself: of a lock in C++ not that in the library's header."""
    return own_frame(operation.stack)


def side(operation: FoundOperation) -> str:
    """What was done, by whom, and which locks it held."""
    value = f" ({operation.value})" if operation.value else ""
    touched = f" of {operation.touched}" if operation.touched else ""
    held = f", holding {', '.join(operation.locks)}" if operation.locks else ""
    return f"{operation.op}{value}{touched} by {operation.actor}{held}"


def main_side(finding: Finding) -> FoundOperation | None:
    """The operation whose place a tool with room for one is told: the last with a known line."""
    known = [op for op in finding.operations if where(op).file and where(op).line]
    return known[-1] if known else None


def capital(text: str) -> str:
    """With a large first letter."""
    return text[:1].upper() + text[1:]


def letters(operations: Sequence[FoundOperation]) -> list[str]:
    """A, B, C as in the explanation; behind Z, numbers."""
    return [chr(ord("A") + n) if n < 26 else f"#{n + 1}" for n in range(len(operations))]
