# SPDX-License-Identifier: Apache-2.0
"""Which outputs of a build.ninja two processes work for, and the edge that would put them in order.

ninja itself says which command makes which output: `ninja -t compdb`. CMake writes such files too;
there the edge is one of its targets.
"""

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.make import Recipe, Rule, plain, told_by
from eitherway.worlds.threads.launch import Launch

NINJA = re.compile(r"(?:.*/)?ninja(?:-build)?")
_FILE = "build.ninja"
_MOST = 64  # outputs that are asked for one by one


class NinjaFile:
    """The edges of one ninja, asked for once."""

    def __init__(self, launch: Launch, ninja: Sequence[str], box: Sandbox) -> None:
        self._rules = _asked(launch, ninja, box)

    def rule(self, recipe: Recipe) -> Rule | None:
        """The output that a command makes."""
        text = recipe.words[-1] if recipe.words[1:2] == ("-c",) else " ".join(recipe.words)
        return self._rules.get(plain(text))


def _asked(launch: Launch, ninja: Sequence[str], box: Sandbox) -> dict[str, Rule]:
    """compdb leaves out what has no input: those are asked for one by one."""
    where = _places(ninja)

    def told(*question: str) -> str:
        return told_by(launch, [ninja[0], *where, "-t", *question], box)

    try:
        edges = json.loads(told("compdb") or "[]")
    except ValueError:
        edges = []
    found = {plain(edge["command"]): edge["output"] for edge in edges}
    listed = (line.rpartition(":")[0] for line in told("targets", "all").splitlines())
    alone = [target for target in listed if target and target not in found.values()]
    for target in alone[:_MOST]:
        found[plain(told("commands", "-s", target).strip())] = target
    return {command: Rule(output, _FILE, 0) for command, output in found.items() if command}


def _places(ninja: Sequence[str]) -> list[str]:
    """-C DIR and -f FILE of the command."""
    found: list[str] = []
    for option, value in pairwise(ninja[1:]):
        if option in ("-C", "-f"):
            found += [option, value]
    return found
