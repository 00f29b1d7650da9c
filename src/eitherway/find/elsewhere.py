# SPDX-License-Identifier: Apache-2.0
"""What happened in processes that the program started: seen while they ran, and not traced.

A trace tells of the process that was started by us. So one side is known by its place, the other
by its thread alone, and nothing has confirmed it.
"""

from eitherway.find.candidates import Candidate, FoundKind
from eitherway.model.finding import Finding, FoundOperation, Source
from eitherway.model.identity import identified
from eitherway.model.words import NEVER_RETURNED, OP_WORDS, Class, Kind, OpKind, World
from eitherway.symbols.lines import frames_at
from eitherway.worlds.threads.run import Ran

_REASON = "seen while a process ran that the program started; check that program by itself"


def finding_of(candidate: Candidate, ran: Ran, program: str) -> Finding:
    """What is known of it."""
    later = candidate.key.side
    member = ran.members[later.slot] if later.slot < len(ran.members) else None
    path = member.program[0] if member is not None and member.program else program
    words = OP_WORDS[OpKind(later.op)]
    accesses = candidate.size > 0
    side = FoundOperation(
        actor=f"thread T{candidate.thread}" if candidate.thread else "main thread",
        op=f"{words} of size {candidate.size}" if accesses else f"{words}{NEVER_RETURNED}",
        object="memory" if accesses else "",
        stack=frames_at(path, [later.place - 1])[0],
    )
    return identified(
        Finding(
            world=World.THREADS,
            kind=_KINDS[FoundKind(later.kind)],
            operations=(side,),
            klass=Class.UNJUDGED,
            reason=_REASON,
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
