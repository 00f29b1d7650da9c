# SPDX-License-Identifier: Apache-2.0
"""Which targets of a makefile two processes work for, and the line that would put them in order.

make itself says which commands belong to which target: `make -n -B --trace` prints both and runs
nothing but what makefiles run while they are read.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.tree import Tree
from eitherway.worlds.threads.launch import Launch

_BUILDS = re.compile(r"(?:.*/)?(?:g?make|ninja(?:-build)?)")
# GNU make 4.4 and later; before.
_UPDATE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): update target '(?P<target>[^']+)' due to: .*")
_TARGET = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): target '(?P<target>[^']+)' does not exist")
_CMAKE = re.compile(r"(^|/)CMakeFiles/(?P<target>[^/]+)\.dir/build\.make$")
_SHELL = 3  # words of `sh -c RECIPE`
_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Rule:
    """A target, and where its recipe stands; `cmake`: the target of CMake that it was written for.

    What CMake writes is not changed by hand.
    """

    target: str
    file: str
    line: int
    cmake: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A command that make started, by its words, and the make that did."""

    make: tuple[str, ...]
    words: tuple[str, ...]


def recipe_of(tree: Tree, thread: int) -> Recipe | None:
    """What a thread works for: its nearest ancestor that make or ninja started."""
    at: int | None = thread
    while at is not None and (parent := tree.lives[at].parent) is not None:
        command = tree.first_command(at)
        by = tree.command(parent)
        if by and _BUILDS.fullmatch(by[0]) and command and command != by:
            return Recipe(by, command)
        at = parent
    return None


class Makefile:
    """The rules of one make, asked for once."""

    def __init__(self, launch: Launch, make: Sequence[str], box: Sandbox) -> None:
        self._rules = dict(_parsed(_printed(launch, make, box)))

    def rule(self, recipe: Recipe) -> Rule | None:
        """The rule that a recipe is of."""
        by_shell = len(recipe.words) == _SHELL and recipe.words[1] == "-c"
        text = recipe.words[2] if by_shell else shlex.join(recipe.words)
        return self._rules.get(plain(text))


def missing_edge(provider: Rule, user: Rule, *, directory: bool) -> str:
    """The line to add: a directory need only be there, it is newer with every file in it."""
    bar = "| " if directory else ""
    return f"{user.target}: {bar}{provider.target}"


def _printed(launch: Launch, make: Sequence[str], box: Sandbox) -> str:
    return told_by(launch, [*make, "-n", "-B", "--trace"], box)


_IN_DIRECTORY = 'cd "$0" && exec "$@"'


def told_by(launch: Launch, command: Sequence[str], box: Sandbox) -> str:
    """What a command prints, in a sandbox; the directory may be only there."""
    asked = box.popen(
        ["sh", "-c", _IN_DIRECTORY, launch.directory, *command],
        cwd="/",
        env=dict(launch.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        out, _ = asked.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        asked.kill()
        out, _ = asked.communicate()
    return os.fsdecode(out)


def _parsed(text: str) -> Iterator[tuple[str, Rule]]:
    rule: Rule | None = None
    for line in text.splitlines():
        if found := _UPDATE.fullmatch(line) or _TARGET.fullmatch(line):
            by = _CMAKE.search(found["file"])
            cmake = by["target"] if by else ""
            rule = Rule(found["target"], found["file"], int(found["line"]), cmake)
        elif rule is not None:
            yield plain(line), rule


def plain(command: str) -> str:
    """A command as make and the process tree both tell it."""
    try:
        return shlex.join(shlex.split(command.lstrip("@-+ \t")))
    except ValueError:
        return command.strip()
