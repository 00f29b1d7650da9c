# SPDX-License-Identifier: Apache-2.0
"""Which targets of a makefile two processes work for, and the line that would put them in order.

make itself says which commands belong to which target: `make -n -B --trace` prints both and runs
nothing but what makefiles run while they are read.
"""

import os
import re
import shlex
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.tree import Tree
from eitherway.worlds.threads.launch import Launch

_BUILDS = re.compile(r"(?:.*/)?(?:g?make|ninja(?:-build)?)")
# GNU make 4.4 and later; before.
_UPDATE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): update target '(?P<target>[^']+)' due to: .*")
_TARGET = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): target '(?P<target>[^']+)' does not exist")
_CMAKE = re.compile(r"(^|/)CMakeFiles/(?P<target>[^/]+)\.dir/build\.make$")
_ENTERS = re.compile(r"(?P<name>[^:]*\[\d+\]): Entering directory ")
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
    """A command that make started, by its words, and the make that did, by its words and number."""

    make: tuple[str, ...]
    words: tuple[str, ...]
    by: int


def recipes_of(tree: Tree, thread: int) -> Iterator[Recipe]:
    """What a thread works for: its ancestors that make or ninja started, the nearest first."""
    at: int | None = thread
    while at is not None and (parent := tree.lives[at].parent) is not None:
        command = tree.first_command(at)
        by = tree.command(parent)
        if by and _BUILDS.fullmatch(by[0]) and command and command != by:
            yield Recipe(by, command, tree.lives[parent].process)
        at = parent


def recipes_of_one(tree: Tree, first: int, second: int) -> tuple[Recipe | None, Recipe | None]:
    """What the two work for, by the nearest make that started both: that can put them in order."""
    mine = {recipe.by: recipe for recipe in recipes_of(tree, first)}
    for recipe in recipes_of(tree, second):
        if recipe.by in mine:
            return mine[recipe.by], recipe
    return None, None


class Makefile:
    """The rules of one make, asked for once."""

    def __init__(self, launch: Launch, make: Sequence[str], box: Sandbox) -> None:
        self._rules = rules_in(_printed(launch, make, box))

    def rule(self, recipe: Recipe) -> Rule | None:
        """The rule that a recipe is of."""
        by_shell = len(recipe.words) == _SHELL and recipe.words[1] == "-c"
        texts = [shlex.join(recipe.words), *recipe.words[2 : 3 * by_shell]]
        return next(filter(None, map(self._rules.get, map(plain, texts))), None)


def missing_edge(provider: Rule, user: Rule, *, directory: bool) -> str:
    """The line to add: a directory need only be there, it is newer with every file in it."""
    bar = "| " if directory else ""
    return f"{user.target}: {bar}{provider.target}"


def _printed(launch: Launch, make: Sequence[str], box: Sandbox) -> str:
    """As the first make, though we may have been started by one: those below it have a number."""
    environment = {name: v for name, v in launch.environment.items() if name != "MAKELEVEL"}
    asked = replace(launch, environment=environment)
    return told_by(asked, [*make, "-n", "-B", "--trace", "-j1"], box)


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
    """Each line of a recipe, and all of it: that is what one shell is given (.ONESHELL)."""
    rule: Rule | None = None
    lines: list[str] = []
    for line in _of_this_make(text.splitlines()):
        if found := _UPDATE.fullmatch(line) or _TARGET.fullmatch(line):
            if rule is not None and len(lines) > 1:
                yield plain("\n".join(lines)), rule
            by = _CMAKE.search(found["file"])
            cmake = by["target"] if by else ""
            rule, lines = Rule(found["target"], found["file"], int(found["line"]), cmake), []
        elif rule is not None:
            lines.append(line)
            yield plain(line), rule
    if rule is not None and len(lines) > 1:
        yield plain("\n".join(lines)), rule


def _of_this_make(lines: Sequence[str]) -> Iterator[str]:
    """Without what the makes print that it starts: recipes with $(MAKE) are run all the same."""
    below = ""
    for line in lines:
        if not below and (found := _ENTERS.match(line)):
            below = found["name"]
        elif not below:
            yield line
        elif line.startswith(f"{below}: Leaving directory "):
            below = ""


def rules_in(text: str) -> dict[str, Rule]:
    """By command, of what make tells; one that several targets have says nothing of which it is."""
    found: dict[str, set[Rule]] = defaultdict(set)
    for command, rule in _parsed(text):
        found[command].add(rule)
    return {command: next(iter(rules)) for command, rules in found.items() if len(rules) == 1}


def plain(command: str) -> str:
    """A command as make and the process tree both tell it."""
    try:
        return shlex.join(shlex.split(command.lstrip("@-+ \t")))
    except ValueError:
        return command.strip()
