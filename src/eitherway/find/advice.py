# SPDX-License-Identifier: Apache-2.0
"""What would put two calls of different processes in order, in sentences."""

import errno
import os
import posixpath
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from tempfile import TemporaryDirectory

import numpy as np

from eitherway.find.uses import closes
from eitherway.model.trace import Trace
from eitherway.model.words import STORES, OpFlag, OpKind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.calls import call_of
from eitherway.worlds.processes.cut import Between, Pair
from eitherway.worlds.processes.described import OF_PROCESSES
from eitherway.worlds.processes.make import (
    Makefile,
    Recipe,
    Rule,
    missing_edge,
    recipes_of,
    recipes_of_one,
)
from eitherway.worlds.processes.meaning import PART_WORDS, PERMISSIONS
from eitherway.worlds.processes.ninja import NINJA, NinjaFile
from eitherway.worlds.processes.operations import NO_CALL
from eitherway.worlds.processes.plan import Plans, Turns
from eitherway.worlds.processes.run import Follow, Limits, run
from eitherway.worlds.processes.scripts import Scripts
from eitherway.worlds.processes.traced import Traced
from eitherway.worlds.threads.launch import Launch

_AGAIN = Limits(patience=5, seconds=60)  # to do a run again, for what it writes
_MAKES_DIRECTORY = ("mkdir", "mkdirat")
_RENAME = {"rename", "renameat", "renameat2"}
_SENDS = {"sendto", "sendmsg", "sendmmsg"}
_REMOVE = {"unlink", "unlinkat", "rmdir", *_RENAME}
_ADDRESS = (
    "Nobody is there before listen and after the last close: who connects must wait for a word of "
    "the one that listens (a pipe, or a file that is made behind listen), or try again."
)
_DATAGRAM = (
    "Before bind and after the last close a datagram is lost: who sends a datagram must wait for a "
    "word of the one that binds, or send again until it is answered."
)
_SIGNAL = (
    "Until a process has said what is to be done with a signal (trap, sigaction), most signals end "
    "it: who sends one must wait for a word of that process (a pipe, or a file that is made behind "
    "it)."
)
_LOCK = (
    "Who finds this lock taken gives up: if it is to wait instead, it must ask without LOCK_NB "
    "(flock without -n, fcntl with F_SETLKW), or try again."
)
_LOCK_FILE = (
    "Who finds this name taken gives up: if it is a lock, it must try again until the name is "
    "free, or wait at a lock that the kernel gives back (flock)."
)
_ONE_OF_TWO = (
    "Only one of the two can make this name (O_EXCL, mkdir, link), and which is left to chance: "
    "for a lock that is right, and what comes of it must be right for either."
)
_ONE_NAME = (
    "Both make this name and do something with what is there: each needs a name of its own "
    "(mktemp), or all of it a lock (flock on another file)."
)
_LOOKED_FOR = (
    "Who makes this name has looked for it before, as the other does, and both may find nothing: "
    "what makes it only where it is not there (O_EXCL, set -C in a shell, mkdir without -p, ln) "
    "looks and makes at once."
)


class Advice:
    """For the races of one run."""

    def __init__(self, launch: Launch, traced: Traced, box: Sandbox) -> None:
        self._launch = launch
        self._traced = traced
        self._box = box
        self._scripts = Scripts(traced, launch.directory)
        self._builds: dict[tuple[bool, str, tuple[str, ...]], Makefile | NinjaFile] = {}

    def on(self, pair: Pair, operations: tuple[int, ...], *, swapped: bool) -> Iterator[str]:
        """`swapped`: it is the recorded order that goes wrong."""
        yield from self._who(operations)
        first, second = (pair.second, pair.first) if swapped else (pair.first, pair.second)
        rules = self._rules(first, second)
        if rules[0] and rules[1] and rules[0].target != rules[1].target:
            yield from self._of_build(rules[0], rules[1], self._traced.name(first))
        else:
            yield from self._of_object(operations)

    def on_three(self, three: Between, operations: tuple[int, ...]) -> Iterator[str]:
        """What would keep a change out from between a check and a use."""
        yield from self._who(operations)
        change, use = (call_of(self._traced.log, call) for call in (three.change, three.use))
        rules = self._rules(change.number, use.number)
        removes = change.name in _REMOVE
        if rules[0] and rules[1] and rules[0].target != rules[1].target:
            provider, user = (rules[1], rules[0]) if removes else (rules[0], rules[1])
            yield from self._of_build(provider, user, change.name)
            return
        name = posixpath.basename(self._traced.describe(operations[2]).variable)
        yield closes(use, name)
        if removes and change.name not in _RENAME:
            yield (
                "If the change is to put something else there, a rename over the name leaves no "
                "moment without it."
            )

    def on_interrupted(self, operations: tuple[int, ...]) -> Iterator[str]:
        """A signal that comes while a call waits, or behind it."""
        yield from self._who(operations)
        yield (
            "Both ends of the call are possible: what the handler noted must be looked at whether "
            "or not it was interrupted. With the signal blocked, ppoll, pselect or a signalfd wait "
            "for it and for the other at once."
        )

    def on_polled(self, operations: tuple[int, ...]) -> Iterator[str]:
        """A poll that finds one of several ready."""
        yield from self._who(operations)
        yield (
            "Which of those that are polled together is ready first is not decided: what must come "
            "first is to be waited for alone."
        )

    def on_sections(self, operations: tuple[int, ...]) -> Iterator[str]:
        """What is read and written under a lock that is given back in between."""
        yield from self._who(operations)
        yield (
            "The lock is given back between A and C: held from the one to the other, it keeps the "
            "two together."
        )

    def on_ring(self, operations: tuple[int, ...]) -> Iterator[str]:
        """Locks that several take in different orders."""
        yield from self._who(operations)
        if len({self._traced.trace.operations["range"][each] for each in operations}) == 1:
            yield "Who will want the lock alone takes it alone from the start: none waits for ever."
        else:
            yield "Where all take these locks in one and the same order, none waits for ever."

    def on_choice(self, operations: tuple[int, ...]) -> Iterator[str]:
        """A wait that takes whichever child it finds."""
        yield from self._who(operations)
        yield (
            "A wait for any child ends with whichever has ended first: a wait for the one that is "
            "meant (waitpid with its number, in a shell wait with $!) does not."
        )

    def _who(self, operations: tuple[int, ...]) -> Iterator[str]:
        """The commands, where they work, and the lines that they come from."""
        for name, operation in zip(ascii_uppercase, operations, strict=False):
            call = int(self._traced.call[operation])
            if call == NO_CALL:
                continue
            thread = int(self._traced.log.calls["thread"][call])
            path = self._traced.describe(operation).variable
            stores = self._traced.trace.operation(operation).kind in STORES
            line = self._scripts.line(call, path, writes=stores)
            where = self._scripts.directory(call)
            words = [f"The command of {name} is '{self._traced.tree.title(thread)}'"]
            words += [f"in {where}"] if where else []
            words += [f"from {line}"] if line else []
            yield f"{', '.join(words)}."

    def _of_build(self, provider: Rule, user: Rule, call: str) -> Iterator[str]:
        if provider.line:
            yield (
                f"make runs the one for target '{provider.target}' "
                f"({provider.file}:{provider.line}), the other for '{user.target}' "
                f"({user.file}:{user.line}), and no rule says which is first."
            )
        else:
            yield (
                f"ninja runs the one for '{provider.target}', the other for '{user.target}', and "
                "no edge says which is first."
            )
        yield _edge(provider, user, directory=call in _MAKES_DIRECTORY)

    def _of_object(self, operations: tuple[int, ...]) -> Iterator[str]:
        described = [self._traced.describe(operation) for operation in operations]
        if self._gives_up(operations):
            yield _LOCK if described[0].object == "file lock" else _LOCK_FILE
        elif any(each.part == PART_WORDS[PERMISSIONS] for each in described):
            yield (
                "A file that is made under another name, with the permissions that it is to have, "
                "and renamed when it is ready is never seen without them."
            )
        elif len({each.variable for each in described if each.object == "file"}) > 1:
            yield (
                "The file is renamed to where the other looks for it, and the other may have read "
                "what was there before: a lock (flock on another file) that each takes before it "
                "reads and gives back after its rename puts them in order."
            )
        elif any(each.object == "file" for each in described):
            yield from _of_file(self._traced.trace, operations)
        elif any(each.object == "address" for each in described):
            yield _DATAGRAM if self._names(operations) & _SENDS else _ADDRESS
        elif any(each.object == "entry" for each in described):
            yield from self._of_entry(operations)
        elif any(each.object.startswith(OF_PROCESSES["disposition"]) for each in described):
            yield _SIGNAL

    def _names(self, operations: tuple[int, ...]) -> set[str]:
        return {self._traced.name(int(self._traced.call[number])) for number in operations}

    def _gives_up(self, operations: tuple[int, ...]) -> bool:
        """Whether one of them fails where it finds taken what the other gives back."""
        sides = [self._traced.trace.operation(number) for number in operations]
        names = self._names(operations)
        tries = any(map(self._finds_taken, operations))
        return tries and (bool(names & _REMOVE) or any(s.kind is OpKind.RELEASE for s in sides))

    def _finds_taken(self, number: int) -> bool:
        """Who could not do it for want of a name has found nothing taken."""
        operation = self._traced.trace.operation(number)
        if not operation.flags & OpFlag.TRY or operation.kind is OpKind.ACQUIRE:
            return bool(operation.flags & OpFlag.TRY)
        call = call_of(self._traced.log, int(self._traced.call[number]))
        return not operation.flags & OpFlag.FAILED or call.result == -errno.EEXIST

    def _of_entry(self, operations: tuple[int, ...]) -> Iterator[str]:
        names = self._names(operations)
        makes = sum(
            self._traced.trace.operation(number).kind is OpKind.STORE for number in operations
        )
        tries = [self._traced.trace.operation(n).flags & OpFlag.TRY for n in operations]
        if all(tries) and not names & _REMOVE:
            yield _ONE_OF_TWO
        elif makes == len(operations) and not names & _REMOVE:
            yield (
                "Both make this entry: with O_EXCL, or mkdir without -p, one of them is told that "
                "the other was first."
            )
        elif names & _REMOVE and self._is_made_by_each(operations):
            yield _ONE_NAME
        elif names & _REMOVE:
            yield (
                "One of them takes this entry away: a rename over it leaves no moment without one; "
                "if it is to go, a lock (flock on another file) or a wait puts the two in order."
            )
        elif self._looked_before(operations):
            yield _LOOKED_FOR
        else:
            yield (
                "One makes what the other looks for: it must wait until that is there, for the end "
                "of the process that makes it (wait) or for a word from it (a pipe)."
            )

    def _is_made_by_each(self, operations: tuple[int, ...]) -> bool:
        """Whether each of them, or who started it, makes the name as well, whoever has it."""
        rows = self._traced.trace.operations
        lines = [self._line_of(number) for number in operations]
        at_name = np.flatnonzero(rows["range"] == rows["range"][operations[0]]).tolist()
        makers = {int(rows["actor"][n]) for n in at_name if self._makes_always(n)}
        shared: set[int] = set.intersection(*lines)
        return all(makers & (line - shared) for line in lines)

    def _makes_always(self, number: int) -> bool:
        call = int(self._traced.call[number])
        how = 0 if call == NO_CALL else call_of(self._traced.log, call).opens
        return bool(how & os.O_CREAT) and not how & os.O_EXCL

    def _looked_before(self, operations: tuple[int, ...]) -> bool:
        """Whether who makes an entry, or who started it, has looked at it before."""
        rows = self._traced.trace.operations
        made = max(operations, key=lambda n: rows["kind"][n] == int(OpKind.STORE))
        lines = {number: self._line_of(number) for number in operations}
        shared = set.intersection(*lines.values())
        looks = (rows["range"] == rows["range"][made]) & (rows["kind"] == int(OpKind.LOAD))
        earlier = np.flatnonzero(looks[:made]).tolist()
        return any(rows["actor"][n] in lines[made] - shared for n in earlier)

    def _line_of(self, operation: int) -> set[int]:
        """Its actor, and those that it was started by."""
        actors, line = self._traced.trace.actors, set[int]()
        actor = int(self._traced.trace.operations["actor"][operation])
        while actor not in line:
            line.add(actor)
            actor = int(actors["parent"][actor])
        return line

    def _rules(self, first: int, second: int) -> tuple[Rule | None, Rule | None]:
        """Those of one make; CMake starts one for each of its targets, and writes what they do."""
        one, other = (int(self._traced.log.calls["thread"][call]) for call in (first, second))
        tree = self._traced.tree
        nearest = (
            self._rule(next(recipes_of(tree, one), None)),
            self._rule(next(recipes_of(tree, other), None)),
        )
        if all(rule is not None and rule.cmake for rule in nearest):
            return nearest
        mine, theirs = recipes_of_one(tree, one, other)
        return self._rule(mine), self._rule(theirs)

    def _rule(self, recipe: Recipe | None) -> Rule | None:
        if recipe is None:
            return None
        where = self._began_in(recipe.by) or self._launch.directory
        rules = (self._build(recipe, where, done=done).rule(recipe) for done in (False, True))
        return next((rule for rule in rules if rule), None)

    def _began_in(self, process: int) -> str:
        """The directory in which a make was started, wherever it then went (-C)."""
        rows, runs = self._traced.log.calls, self._traced.tree.lives[process].runs
        since = runs[-1].when if runs else 0
        later = np.flatnonzero((rows["thread"] == process) & (rows["entered"] >= since))
        return self._scripts.directory(int(later[0])) if len(later) else ""

    def _build(self, recipe: Recipe, where: str, *, done: bool) -> Makefile | NinjaFile:
        """Asked for its rules before the run, or `done`: where the run itself has written them."""
        key = done, where, recipe.make
        if key not in self._builds:
            self._box.reset()
            if done:
                self._run_again()
            kind = NinjaFile if NINJA.fullmatch(recipe.make[0]) else Makefile
            launch = replace(self._launch, directory=where)
            self._builds[key] = kind(launch, recipe.make, self._box)
        return self._builds[key]

    def _run_again(self) -> None:
        log = self._traced.log
        follow = Follow(Plans(log), Turns(range(len(log.calls))), brief=True)
        with TemporaryDirectory() as into:
            run(self._launch, self._box, Path(into), seed=0, follow=follow, limits=_AGAIN)


def _edge(provider: Rule, user: Rule, *, directory: bool) -> str:
    """What to write where."""
    if provider.cmake and provider.cmake == user.cmake:
        return (
            f"CMake wrote both rules, for its target '{user.cmake}'. This puts them in order: "
            f"DEPENDS {provider.target} in the add_custom_command whose OUTPUT is {user.target}."
        )
    if provider.cmake and user.cmake:
        return (
            f"CMake wrote these rules, for its targets '{provider.cmake}' and '{user.cmake}'. This "
            f"line in CMakeLists.txt puts them in order: "
            f"add_dependencies({user.cmake} {provider.cmake})"
        )
    if not provider.line:
        return (
            f"An order-only input puts them in order: build {user.target}: ... || {provider.target}"
        )
    line = missing_edge(provider, user, directory=directory)
    return f"This line in {user.file} puts them in order: {line}"


def _of_file(trace: Trace, operations: tuple[int, ...]) -> Iterator[str]:
    """By what the two do with the file besides."""
    sides = [trace.operation(number) for number in operations]
    touched = next((side.range for side in sides if side.range), None)
    if touched is None:
        return
    writers = [_stores(trace, side.actor, touched.object) for side in sides]
    if all(writers):
        yield (
            "Both processes read and write this file: a lock (flock) that each takes before it "
            "reads and gives back after it wrote puts them in order."
        )
    elif any(side.kind is OpKind.LOAD for side in sides):
        yield (
            "Only one of them writes: if it writes another file and renames it over this one, a "
            "reader finds the old content or the new one, and never a part; a reader that needs "
            "the new one must wait for it."
        )


def _stores(trace: Trace, actor: int, owner: int) -> bool:
    rows = trace.operations
    mine = rows[(rows["actor"] == actor) & (trace.ranges["object"][rows["range"]] == owner)]
    return bool(np.isin(mine["kind"], [int(kind) for kind in STORES]).any())
