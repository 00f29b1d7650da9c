# SPDX-License-Identifier: Apache-2.0
"""What would put two calls of different processes in order, in sentences."""

from collections.abc import Iterator

import numpy as np

from eitherway.model.trace import Trace
from eitherway.model.words import STORES, OpKind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.cut import Pair
from eitherway.worlds.processes.make import Makefile, Recipe, Rule, missing_edge, recipe_of
from eitherway.worlds.processes.traced import Traced
from eitherway.worlds.threads.launch import Launch

_MAKES_DIRECTORY = ("mkdir", "mkdirat")


class Advice:
    """For the races of one run."""

    def __init__(self, launch: Launch, traced: Traced, box: Sandbox) -> None:
        self._launch = launch
        self._traced = traced
        self._box = box
        self._makefiles: dict[tuple[str, ...], Makefile] = {}

    def on(self, pair: Pair, operations: tuple[int, ...], *, swapped: bool) -> Iterator[str]:
        """`swapped`: it is the recorded order that goes wrong."""
        first, second = (pair.second, pair.first) if swapped else (pair.first, pair.second)
        rules = self._rule(first), self._rule(second)
        if rules[0] and rules[1] and rules[0].target != rules[1].target:
            yield from self._of_make(rules[0], rules[1], self._traced.name(first))
        else:
            yield from _of_file(self._traced.trace, operations)

    def _of_make(self, provider: Rule, user: Rule, call: str) -> Iterator[str]:
        line = missing_edge(provider, user, directory=call in _MAKES_DIRECTORY)
        yield (
            f"make runs the one for target '{provider.target}' ({provider.file}:{provider.line}), "
            f"the other for '{user.target}' ({user.file}:{user.line}), and no rule says which is "
            "first."
        )
        yield f"This line in {user.file} puts them in order: {line}"

    def _rule(self, call: int) -> Rule | None:
        thread = int(self._traced.log.calls["thread"][call])
        recipe = recipe_of(self._traced.tree, thread)
        return self._makefile(recipe).rule(recipe) if recipe else None

    def _makefile(self, recipe: Recipe) -> Makefile:
        if recipe.make not in self._makefiles:
            self._box.reset()
            self._makefiles[recipe.make] = Makefile(self._launch, recipe.make, self._box)
        return self._makefiles[recipe.make]


def _of_file(trace: Trace, operations: tuple[int, ...]) -> Iterator[str]:
    """By what the two do with the file besides."""
    sides = [trace.operation(number) for number in operations]
    touched = sides[0].range
    if touched is None or touched.object_kind != "file":
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
            "reader finds the old content or the new one, and never a part."
        )


def _stores(trace: Trace, actor: int, owner: int) -> bool:
    rows = trace.operations
    mine = rows[(rows["actor"] == actor) & (trace.ranges["object"][rows["range"]] == owner)]
    return bool(np.isin(mine["kind"], [int(kind) for kind in STORES]).any())
