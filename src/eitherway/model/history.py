# SPDX-License-Identifier: Apache-2.0
"""A history: what the actors of a finding did around it, cut out of a trace to be drawn.

It stays with the finding, because a recording may be gone when somebody looks at the report.
"""

from dataclasses import dataclass, field

from eitherway.model.place import Place
from eitherway.model.words import OpKind


@dataclass(frozen=True, slots=True)
class Moment:
    """One operation of a history."""

    actor: int  # number in the history
    step: int  # number in the trace: what lies between two moments is not told
    kind: OpKind
    op: str  # as in the operations of a finding
    touched: str = ""
    value: str = ""
    place: Place = field(default_factory=Place)  # in the program: libraries are stepped over
    side: int = 0  # which operation of the finding it is, from 1


@dataclass(frozen=True, slots=True)
class Edge:
    """One moment comes before another, and not only because it was seen earlier."""

    before: int
    after: int
    chance: bool = False  # another run may have it the other way round


@dataclass(frozen=True, slots=True)
class History:
    """Moments in the order seen; empty where nothing was traced."""

    actors: tuple[str, ...] = ()
    moments: tuple[Moment, ...] = ()
    edges: tuple[Edge, ...] = ()
