# SPDX-License-Identifier: Apache-2.0
"""Which outputs of a build.ninja two processes work for, and the edge that would put them in order.

ninja itself says which command makes which output: `ninja -t compdb`. CMake writes such files too;
there `ninja -t query` says for which of its targets.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.make import Recipe, Rule, plain, told_by
from eitherway.worlds.threads.launch import Launch

NINJA = re.compile(r"(?:.*/)?ninja(?:-build)?")
_FILE = "build.ninja"
_MOST = 64  # outputs that are asked for one by one
_OBJECT = re.compile(r"(^|/)CMakeFiles/(?P<target>[^/]+)\.dir/")

Ask = Callable[..., str]  # a tool of ninja, by its words


class NinjaFile:
    """The edges of one ninja, asked for once."""

    def __init__(self, launch: Launch, ninja: Sequence[str], box: Sandbox) -> None:
        where = _places(ninja)
        self._ask: Ask = lambda *words: told_by(launch, [ninja[0], *where, "-t", *words], box)
        self._by_cmake = _is_by_cmake(launch, where)
        self._rules = _asked(self._ask)

    def rule(self, recipe: Recipe) -> Rule | None:
        """The output that a command makes."""
        text = recipe.words[-1] if recipe.words[1:2] == ("-c",) else " ".join(recipe.words)
        rule = self._rules.get(plain(text))
        return replace(rule, cmake=self._target(rule.target)) if rule and self._by_cmake else rule

    def _target(self, output: str) -> str:
        """Of CMake: objects lie in its directory, of all else it is what they are needed for."""
        if found := _OBJECT.search(output):
            return found["target"]
        _, _, needed = self._ask("query", output).partition("outputs:")
        names = (line.strip() for line in needed.splitlines())
        return next((name for name in names if name and "/" not in name and name != "all"), output)


def _asked(ask: Ask) -> dict[str, Rule]:
    """compdb leaves out what has no input: those are asked for one by one.

    CMake gives outputs a second name, from the root: the first one is the one that people know.
    """
    try:
        edges = json.loads(ask("compdb") or "[]")
    except ValueError:
        edges = []
    found = {plain(edge["command"]): edge["output"] for edge in edges}
    listed = [line.rpartition(":") for line in ask("targets", "all").splitlines()]
    known = {*found.values(), ""}
    alone = [name for name, _, kind in listed if name not in known and kind.strip() != "phony"]
    for target in alone[:_MOST]:
        found.setdefault(plain(ask("commands", "-s", target).strip()), target)
    return {command: Rule(output, _FILE, 0) for command, output in found.items() if command}


def _is_by_cmake(launch: Launch, places: Sequence[str]) -> bool:
    directory = dict(zip(places[::2], places[1::2], strict=True)).get("-C", ".")
    return Path(launch.directory, directory, "CMakeCache.txt").exists()


def _places(ninja: Sequence[str]) -> list[str]:
    """-C DIR and -f FILE of the command."""
    found: list[str] = []
    for option, value in pairwise(ninja[1:]):
        if option in ("-C", "-f"):
            found += [option, value]
    return found
