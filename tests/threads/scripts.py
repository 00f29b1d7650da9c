# SPDX-License-Identifier: Apache-2.0
"""All schedules of the scripts that `programs/scripted.c` plays, counted by going through them.

A thread stands before its next step, or waits in it. At every step whoever is ready may go on
instead; so it is behind a creation, and where one waits or ends. Nothing here knows how the
runtime searches: it only knows what each step does.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

READY, ENDED = "ready", "ended"


@dataclass(frozen=True, slots=True)
class Thread:
    """How far one has come."""

    at: int = 0
    state: str = READY  # or what it waits for
    inside: bool = False  # of the step that it is at: it waited there, and was woken
    between: bool = True  # it has yet to come to that step: it begins, or has just created another


@dataclass(frozen=True, slots=True)
class State:
    """All threads, and what they share."""

    threads: tuple[Thread | None, ...]
    owners: tuple[int | None, ...] = (None, None)  # of the locks
    value: int = 0  # of the semaphore
    came: int = 0  # to the barrier
    told: str = ""

    def changed(self, who: int, **what: object) -> "State":
        thread = self.threads[who]
        assert thread is not None
        threads = list(self.threads)
        threads[who] = replace(thread, **what)  # type: ignore[arg-type]
        return replace(self, threads=tuple(threads))

    def woken(self, what: str, who: int | None = None) -> "State":
        """All that wait for it, or one of them."""
        state = self
        for number, thread in enumerate(self.threads):
            if thread and thread.state == what and who in (None, number):
                state = state.changed(number, state=READY)
        return state

    def ready(self) -> list[int]:
        return [n for n, thread in enumerate(self.threads) if thread and thread.state == READY]

    def waiting(self, what: str) -> list[int]:
        return [n for n, thread in enumerate(self.threads) if thread and thread.state == what]


@dataclass(slots=True)
class Scripts:
    """One program of them."""

    text: str
    steps: list[list[str]] = field(init=False)
    schedules: Counter[str] = field(default_factory=Counter)  # by what is told at the end

    def __post_init__(self) -> None:
        parts = self.text.split("/")
        self.steps = [[part[i : i + 2] for i in range(0, len(part), 2)] for part in parts]
        first = (Thread(between=False), *[None] * (len(parts) - 1))
        self._before_step(State(first), 0)

    def _decide(self, state: State) -> None:
        """Each that is ready goes on, each in a world of its own."""
        main = state.threads[0]
        if main is None or main.state == ENDED:
            self.schedules[state.told] += 1
            return
        ready = state.ready()
        if not ready:
            self.schedules[state.told + "!"] += 1  # a deadlock
        for who in ready:
            self._go(state, who)

    def _go(self, state: State, who: int) -> None:
        thread = state.threads[who]
        assert thread is not None
        if thread.between:
            self._before_step(state.changed(who, between=False), who)
        else:
            self._step(state, who, thread)

    def _before_step(self, state: State, who: int) -> None:
        """A thread is created without being asked before."""
        thread = state.threads[who]
        assert thread is not None
        if thread.at == len(self.steps[who]):
            self._decide(state.changed(who, state=ENDED).woken(f"end{who}"))
        elif self.steps[who][thread.at][0] == "c":
            new = int(self.steps[who][thread.at][1])
            threads = list(state.threads)
            threads[new] = Thread()
            state = replace(state, threads=tuple(threads))
            self._decide(state.changed(who, at=thread.at + 1, between=True))
        else:
            self._decide(state)

    def _step(self, state: State, who: int, thread: Thread) -> None:
        for after in self._after(state, who, thread):
            moved = after.threads[who]
            assert moved is not None
            if moved.state == READY and moved.at > thread.at:
                self._before_step(after, who)
            else:
                self._decide(after)

    def _after(self, state: State, who: int, thread: Thread) -> list[State]:
        """What the step leads to: it is done, or its thread waits in it."""
        step = self.steps[who][thread.at]
        what, which = step[0], int(step[1])
        done = state.changed(who, at=thread.at + 1, inside=False)
        if what == "a":
            return [replace(done, told=done.told + "ABCD"[who])]
        if what == "j":
            other = state.threads[which]
            over = other is not None and other.state == ENDED
            return [done] if over else [state.changed(who, state=f"end{which}", inside=True)]
        if what == "l":
            return [self._locked(state, done, who, which)]
        if what == "u":
            return [_unlocked(done, which)]
        if what == "w":
            taken = replace(done, value=done.value - 1)
            return [taken] if state.value else [state.changed(who, state="post", inside=True)]
        if what == "p":
            return [replace(done, value=done.value + 1).woken("post")]
        if what == "s":
            waiting = state.waiting("signal")
            return [done.woken("signal", one) for one in waiting] or [done]
        if what == "b":
            return [self._met(state, done, who, thread)]
        if thread.inside:  # v: woken, it takes the lock again
            return [self._locked(state, done, who, 0)]
        return [_unlocked(state, 0).changed(who, state="signal", inside=True)]

    def _locked(self, state: State, done: State, who: int, which: int) -> State:
        if state.owners[which] is not None:
            return state.changed(who, state=f"lock{which}", inside=True)
        owners = tuple(who if i == which else owner for i, owner in enumerate(state.owners))
        return replace(done, owners=owners)

    def _met(self, state: State, done: State, who: int, thread: Thread) -> State:
        if thread.inside:
            return done
        if state.came == 1:
            return replace(done, came=0).woken("barrier")
        return replace(state.changed(who, state="barrier", inside=True), came=1)


def _unlocked(state: State, which: int) -> State:
    owners = tuple(None if i == which else owner for i, owner in enumerate(state.owners))
    return replace(state, owners=owners).woken(f"lock{which}")
