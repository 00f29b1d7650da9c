# SPDX-License-Identifier: Apache-2.0
"""System V: messages and semaphores as what is given and taken, by their numbers."""

import struct
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from eitherway.model.words import OpKind
from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.log import Log

IPC_CREAT, IPC_RMID, IPC_SET = 0o1000, 0, 1
_SETVAL, _SETALL, _IPC_64 = 16, 17, 0x100
_OPERATION = struct.Struct("<HhH")  # sembuf: which, what is added to it, flags
WORDS = {"msg": "message queue", "sem": "semaphores", "shm": "shared memory"}


class Token(NamedTuple):
    """So much of something is given (WAKE) or taken (WAIT)."""

    kind: OpKind
    of: Hashable  # a type of message in a queue, or one semaphore
    owner: int  # identifier
    amount: int
    afresh: bool = False  # what was there before counts no more


def sort_of(call: Call) -> str:
    """Which of the three a call is about."""
    return call.name[:3]


def command_of(call: Call) -> int:
    """Of a msgctl, semctl or shmctl."""
    return call.arguments[2 if call.name == "semctl" else 1] & ~_IPC_64


def sets_values(call: Call) -> bool:
    """Whether a semctl says what semaphores are to have, whatever they had."""
    return command_of(call) in (_SETVAL, _SETALL)


def tokens(call: Call, log: Log) -> Iterator[Token]:
    """What a call that worked gives and takes; nothing where the recorder saw no memory.

    A message has a type, which is not 0.
    """
    owner = call.arguments[0]
    if not call.worked:
        return
    if call.name in ("msgsnd", "msgrcv") and call.value:
        kind = OpKind.WAKE if call.name == "msgsnd" else OpKind.WAIT
        yield Token(kind, (owner, call.value), owner, 1)
    elif call.name in ("semop", "semtimedop") and call.value < len(log.texts):
        for which, change, _ in _OPERATION.iter_unpack(log.texts[call.value]):
            if change:
                kind = OpKind.WAKE if change > 0 else OpKind.WAIT
                yield Token(kind, (owner, which), owner, abs(change))
    elif call.name == "semctl" and command_of(call) == _SETVAL:
        which, value = call.arguments[1], call.arguments[3] & 0xFFFFFFFF
        yield Token(OpKind.WAKE, (owner, which), owner, value, afresh=True)
