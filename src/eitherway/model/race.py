# SPDX-License-Identifier: Apache-2.0
"""A race: operations of a trace whose order nothing decided."""

from dataclasses import dataclass

from eitherway.model.words import Kind

BY_MEMORY = "by memory"  # of wakeup-waits: only locks there, or threads, put the two in order
BY_THREADS = "by threads"  # of load-store: the only chain leads through threads of one process
INTERRUPTED = "interrupted"  # of wait-wakeups: by a signal, where another could have ended it
OVERLAPPING = "overlapping"  # of load-store: both were under way at once
SECTIONS = "sections"  # of atomicity: each whole under a lock, and nothing keeps them together
TRIED = "tried"  # of load-store: one gives up as long as the other has not come
UNORDERED = "unordered-"  # before a pattern: what came first here can come last


@dataclass(frozen=True, slots=True)
class Race:
    """Operations of one trace, by index, in the order seen; of a toctou check, change and use.

    `pattern` says more where the kind has sorts: "RWR" of an atomicity violation, for example.
    """

    kind: Kind
    operations: tuple[int, ...]
    pattern: str = ""
