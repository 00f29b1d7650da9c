# SPDX-License-Identifier: Apache-2.0
"""Reports of ThreadSanitizer, in the text of gcc's and clang's runtimes."""

import re
from collections.abc import Iterator

from eitherway.logs.blocks import Block
from eitherway.logs.frames import sanitizer_frame
from eitherway.logs.sections import CRASHED, Section, sections
from eitherway.model.finding import Finding, FoundOperation, Frame, HeldLock
from eitherway.model.words import Kind, World

_TITLE = re.compile(r"(?:WARNING|ERROR): ThreadSanitizer: (.*?)(?: \(p(?:id=|c ).*)?$")
_KINDS = (  # the first that a title begins with
    ("data race", Kind.DATA_RACE),
    ("race on ", Kind.DATA_RACE),
    ("Swift access race", Kind.DATA_RACE),
    ("heap-use-after-free", Kind.MEMORY_ERROR),
    ("lock-order-inversion", Kind.DEADLOCK),
    ("thread leak", Kind.THREAD_LEAK),
    ("signal", Kind.SIGNAL_MISUSE),
    ("SEGV", Kind.FAILURE),
    ("BUS", Kind.FAILURE),
    ("", Kind.LOCK_MISUSE),  # destroy of a locked mutex, double lock, unlock of an unlocked one
)
_HEADLINE = re.compile(
    r"(?:WARNING|ERROR): ThreadSanitizer: "
    r"|  (?:Previous |Read[ -]|Write |Atomic |Modifying |Location is |Mutex |Thread T|As if |Cycle "
    r"|and:$)",
    re.IGNORECASE,
)
_ACCESS = re.compile(
    r"(?:Previous )?((?:atomic )?(?:read|write)(?: of size \d+)?|(?:modifying|read-only) access)"
    r"(?: of [^()]*?)?(?: at 0x[0-9a-f]+)? by "
    r"(.*?)(?: \(mutexes: ([^()]*)\))?(?: \[failed [^]]*\])?:?$",
    re.IGNORECASE,
)
_LOCATION = re.compile(r"Location is (.*)")
_GLOBAL = re.compile(r"global '(.*)' of size \d+")
_BLOCK = re.compile(r"heap block of size (\d+) at 0x[0-9a-f]+ allocated by (.*?):?$")
_MUTEX = re.compile(r"Mutex (M\d+)(?: \(0x[0-9a-f]+\))? created at:")
_THREAD = re.compile(r"Thread (T\d+)(?: '.*?')? \(tid=[^()]*\) created(?: by (.*?))?(?: at:?)?$")
_WANTED = re.compile(r"Mutex (M\d+) acquired here while holding mutex (M\d+) in (.*?):?$")
_HELD = re.compile(r"Mutex (M\d+) previously acquired by the same thread here")
_ACTOR = re.compile(r"(main thread|thread T\d+)")
_NAMELESS = frozenset({"<null>", "??", "(null)"})


def finding_of(block: Block) -> Finding | None:
    """What a block tells; None if not even one side of it can be read."""
    title = _TITLE.match(block.lines[0])
    if title is None:
        return None
    kind = next(kind for words, kind in _KINDS if title[1].startswith(words))
    parts = list(sections(block.lines, sanitizer_frame, _HEADLINE))
    told = _Told(parts)
    operations = tuple(_OPERATIONS.get(kind, _Told.plain)(told, title[1]))
    if not any(operation.stack for operation in operations):
        return None
    reason = CRASHED if kind is Kind.FAILURE else ""
    return Finding(World.THREADS, kind, operations, locks=told.locks(operations), reason=reason)


class _Told:
    """The sections of one report."""

    def __init__(self, parts: list[Section]) -> None:
        self.parts = parts
        self.mutexes = dict(self._matching(_MUTEX))
        self.threads: dict[str, tuple[re.Match[str], tuple[Frame, ...]]] = {}
        for part in parts:
            if found := _THREAD.match(part.head):
                self.threads[f"thread {found[1]}"] = (found, part.frames)

    def _matching(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, tuple[Frame, ...]]]:
        for part in self.parts:
            if found := pattern.match(part.head):
                yield found[1], part.frames

    def accesses(self, _title: str) -> Iterator[FoundOperation]:
        """The later one stands first."""
        sides = [
            self._side(found[1].lower(), found[2], part.frames, found[3] or "")
            for part in self.parts
            if (found := _ACCESS.match(part.head))
        ]
        yield from reversed(sides)

    def deadlock(self, _title: str) -> Iterator[FoundOperation]:
        """In pairs round the ring, the lock held and the one wanted, as our own are."""
        for index, part in enumerate(self.parts):
            if not (found := _WANTED.match(part.head)):
                continue
            behind = self.parts[index + 1] if index + 1 < len(self.parts) else Section("")
            if _HELD.match(behind.head):
                yield self._side("lock", found[3], behind.frames, "", lock=found[2])
            yield self._side("lock", found[3], part.frames, f"write {found[2]}", lock=found[1])

    def leak(self, _title: str) -> Iterator[FoundOperation]:
        """Each thread that nobody waited for, at the place that made it."""
        for words, (found, frames) in self.threads.items():
            yield self._side("start", found[2] or "", frames, "", touched=words)

    def plain(self, title: str) -> Iterator[FoundOperation]:
        """The first stack stands right below the title, a second one below "and:"."""
        heads = [part for part in self.parts if _TITLE.match(part.head) or part.head == "and:"]
        for part in reversed(heads):
            op = title if _TITLE.match(part.head) else "lock"
            mutex = next(iter(self.mutexes.values()), ())
            yield FoundOperation("a thread", op, "mutex", stack=part.frames, allocated=mutex)

    def happened(self, title: str) -> Iterator[FoundOperation]:
        """What a thread did, to nothing in particular."""
        op = title.partition(" 0x")[0]
        yield FoundOperation("a thread", op, "", stack=self.parts[0].frames)

    def _side(
        self,
        op: str,
        actor: str,
        stack: tuple[Frame, ...],
        mutexes: str,
        *,
        lock: str = "",
        touched: str = "",
    ) -> FoundOperation:
        who = _ACTOR.match(actor)
        thread, created = self.threads.get(who[1] if who else actor, (None, ()))
        place = _Location(self.parts) if not lock and not touched else _Location([])
        return FoundOperation(
            actor=actor or "a thread",
            op=op,
            object="mutex" if lock else "thread" if touched else place.object,
            variable=place.variable,
            stack=stack,
            locks=tuple(f"mutex {name}" for name in re.findall(r"M\d+", mutexes)),
            created=created,
            created_by=(thread[2] or "") if thread else "",
            allocated=self.mutexes.get(lock, ()) if lock else place.allocated,
            allocated_by=place.by,
        )

    def locks(self, operations: tuple[FoundOperation, ...]) -> tuple[HeldLock, ...]:
        """Where the locks that were held were made."""
        names = dict.fromkeys(name for operation in operations for name in operation.locks)
        made = {f"mutex {name}": frames for name, frames in self.mutexes.items()}
        return tuple(HeldLock(name, made[name]) for name in names if made.get(name))


class _Location:
    """What was raced on, in the words of our own findings."""

    def __init__(self, parts: list[Section]) -> None:
        self.object = self.variable = self.by = ""
        self.allocated: tuple[Frame, ...] = ()
        for part in parts:
            if found := _LOCATION.match(part.head):
                self._read(found[1].rstrip("."), part.frames)

    def _read(self, words: str, frames: tuple[Frame, ...]) -> None:
        if found := _GLOBAL.match(words):
            self.object = "global"
            self.variable = "" if found[1] in _NAMELESS else found[1]
        elif found := _BLOCK.match(words):
            self.object = f"heap block of {found[1]} bytes"
            self.by, self.allocated = found[2], frames
        elif words.startswith("stack of "):
            self.object = words
        elif words.startswith("TLS of "):
            self.object = f"thread-local storage of {words.removeprefix('TLS of ')}"
        elif words.startswith("file descriptor "):
            self.object, self.allocated = "file descriptor", frames


_OPERATIONS = {
    Kind.DATA_RACE: _Told.accesses,
    Kind.MEMORY_ERROR: _Told.accesses,
    Kind.DEADLOCK: _Told.deadlock,
    Kind.THREAD_LEAK: _Told.leak,
    Kind.SIGNAL_MISUSE: _Told.happened,
    Kind.FAILURE: _Told.happened,
}
