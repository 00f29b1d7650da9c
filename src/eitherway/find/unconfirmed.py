# SPDX-License-Identifier: Apache-2.0
"""What was seen while a program ran, and is in no trace: one side is known, nothing confirmed it.

A trace tells of the process that was started by us, not of those that it starts; and of some runs
none could be taken. The side that came later is known by its place, the other by its thread alone.
"""

from eitherway.find.candidates import Candidate
from eitherway.model.finding import Finding, FoundOperation, Source
from eitherway.model.identity import identified
from eitherway.model.words import NEVER_RETURNED, OP_WORDS, Class, Kind, OpKind, World
from eitherway.symbols.lines import frames_at
from eitherway.worlds.threads.described import actor
from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.run import Ran

ELSEWHERE = "seen while a process ran that the program started; check that program by itself"
FELLED = "seen in a run that then ended the process that ran it: no trace can be taken of that"
NO_TIME = "seen while the program ran; there was no time to look at it in a trace"


def program_of_slot(ran: Ran, slot: int) -> str:
    """The file that a process of the run was started from; empty when it was forked."""
    member = ran.members[slot] if slot < len(ran.members) else None
    return member.program[0] if member is not None and member.program else ""


def finding_of(candidate: Candidate, program: str, reason: str) -> Finding:
    """What is known of it."""
    later = candidate.key.side
    words = OP_WORDS[OpKind(later.op)]
    accesses = candidate.size > 0
    side = FoundOperation(
        actor=actor(candidate.thread),
        op=f"{words} of size {candidate.size}" if accesses else f"{words}{NEVER_RETURNED}",
        object="memory" if accesses else "",
        stack=frames_at(program, [later.place - 1])[0],
    )
    return identified(
        Finding(
            world=World.THREADS,
            kind=_KINDS[FoundKind(later.kind)],
            operations=(side,),
            klass=Class.UNJUDGED,
            reason=reason,
            explanation=(_explanation(candidate),),
            sources=(Source("eitherway"),),
        )
    )


_KINDS = {
    FoundKind.RACE: Kind.DATA_RACE,
    FoundKind.USE_AFTER_FREE: Kind.MEMORY_ERROR,
    FoundKind.DEADLOCK: Kind.DEADLOCK,
    FoundKind.DOUBLE_FREE: Kind.MEMORY_ERROR,
    FoundKind.INVALID_FREE: Kind.MEMORY_ERROR,
    FoundKind.LOCK_MISUSE: Kind.LOCK_MISUSE,
}
_SEEN = {
    FoundKind.USE_AFTER_FREE: "The memory was given back before.",
    FoundKind.DEADLOCK: "No thread of the process can go on: this is what one of them waits for.",
    FoundKind.DOUBLE_FREE: "The memory was given back before.",
    FoundKind.INVALID_FREE: "No block begins there.",
    FoundKind.LOCK_MISUSE: "Only the holder of a lock may do this, or nobody.",
}


def _explanation(candidate: Candidate) -> str:
    later = candidate.key.side
    past = OP_WORDS[OpKind(later.past_op)] if later.past_op else ""
    racing = (
        f"An earlier {past} by thread T{candidate.key.past_thread} of the same process "
        "touches the same bytes, and nothing orders the two."
    )
    return _SEEN.get(FoundKind(later.kind), racing)
