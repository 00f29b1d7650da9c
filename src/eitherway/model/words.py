# SPDX-License-Identifier: Apache-2.0
"""The closed vocabularies of the model: worlds, kinds, classes, and what an operation can be.

The string values appear in findings, files and reports, so they are contracts; the integer values
appear in recordings, so a number is never given a second meaning.
"""

from enum import IntEnum, IntFlag, StrEnum


class World(StrEnum):
    """Where the actors live."""

    THREADS = "threads"
    PROCESSES = "processes"
    KERNEL = "kernel"


class Kind(StrEnum):
    """What sort of thing a finding tells."""

    DATA_RACE = "data-race"
    LOAD_STORE = "load-store"
    WAIT_WAKEUPS = "wait-wakeups"
    WAKEUP_WAITS = "wakeup-waits"
    TOCTOU = "toctou"
    ATOMICITY = "atomicity"
    DEADLOCK = "deadlock"
    LOST_WAKEUP = "lost-wakeup"
    LOCK_MISUSE = "lock-misuse"
    MEMORY_ERROR = "memory-error"
    THREAD_LEAK = "thread-leak"
    SIGNAL_MISUSE = "signal-misuse"
    HANG = "hang"
    FAILURE = "failure"


class Class(StrEnum):
    """What the other order does, in the words of Portend; what needs attention first."""

    SPEC_VIOLATED = "spec-violated"
    OUTPUT_DIFFERS = "output-differs"
    UNJUDGED = "unjudged"
    INCONCLUSIVE = "inconclusive"
    K_WITNESS_HARMLESS = "k-witness-harmless"
    SINGLE_ORDERING = "single-ordering"

    @property
    def urgency(self) -> int:
        """Higher stands first in a list."""
        order = list(Class)
        return len(order) - order.index(self)

    @property
    def weight(self) -> int:
        """When runs disagree, the higher is kept: the worst that was seen; not tried says least.

        A try that came to no end is not made good by others that found nothing, so inconclusive
        outweighs harmless. Having run the other order outweighs the word that it cannot happen.
        """
        return -1 if self is Class.UNJUDGED else self.urgency


class Arm(StrEnum):
    """The arms of an experiment on a race."""

    FLIP = "flip"
    CONTROL = "control"
    PREFIX = "prefix"
    SERIAL = "serial"  # of three: the other order in which nothing comes between two of them


class OpKind(IntEnum):
    """What one operation does to its object."""

    LOAD = 1
    STORE = 2
    UPDATE = 3  # loads and stores in one step that nothing can come between
    ALLOCATE = 4  # the first store to an object, of all of it: its memory comes to be
    FREE = 5  # the last store to an object, of all of it: its memory is given back

    ACQUIRE = 8  # takes a lock
    RELEASE = 9  # gives it back
    INIT = 10  # makes a lock: what it was before is over
    DESTROY = 11  # ends a lock; FAILED: while somebody has it

    WAIT = 16  # ends when a matching WAKE has happened
    WAKE = 17  # may end a matching WAIT

    START = 24  # creates an actor; the object is the new actor
    BEGIN = 25  # first operation of an actor
    END = 26  # last operation of an actor
    JOIN = 27  # waits for the end of one given actor

    OTHER = 32  # keeps its place in the order, touches nothing we model


OURS = "eitherway"  # as the source of a finding
HANDLER_CALLED = "<signal handler called>"  # a frame, as gdb says it
NEVER_RETURNED = " that never returned"  # behind the words of an operation

OP_WORDS = {
    OpKind.LOAD: "read",
    OpKind.STORE: "write",
    OpKind.UPDATE: "update",
    OpKind.ALLOCATE: "allocation",
    OpKind.FREE: "free",
    OpKind.ACQUIRE: "lock",
    OpKind.RELEASE: "unlock",
    OpKind.INIT: "initialisation",
    OpKind.DESTROY: "destruction",
    OpKind.WAIT: "wait",
    OpKind.WAKE: "wake-up",
    OpKind.START: "start",
    OpKind.BEGIN: "begin",
    OpKind.END: "end",
    OpKind.JOIN: "join",
    OpKind.OTHER: "call",
}


class OpFlag(IntFlag):
    """Properties of one operation."""

    NONE = 0
    ATOMIC = 1  # two atomic accesses never make a data race with each other
    TRY = 2  # gives up instead of waiting
    SHARED = 4  # the reader side of a lock
    FAILED = 8  # did not do its work: a try-lock that found the lock taken, an error return
    WILDCARD = 16  # a WAIT that any one of several WAKEs can end
    BLOCKED = 32  # never returned in this run
    CUMULATIVE = 64  # a WAKE whose effect adds to that of others (bytes in a stream)
    CHECK = 128  # a LOAD that only looks: what it finds decides what is done next


class EdgeKind(IntEnum):
    """Why one operation came before another."""

    INHERENT = 1  # it could not be the other way: start, join, wake, data that was read
    CHANCE = 2  # which of two critical sections came first; another run may swap them


# Where the bytes of a file begin among the places of the object: before them is what is told of it.
FILE, FILE_BYTES = "file", 4

STORES = frozenset({OpKind.STORE, OpKind.UPDATE, OpKind.ALLOCATE, OpKind.FREE})
ACCESSES = STORES | {OpKind.LOAD}
