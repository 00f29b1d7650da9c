# SPDX-License-Identifier: Apache-2.0
"""Why a run may differ when it is done again: what is known of this program, in sentences.

None of it proves anything; each says what was looked at, so that a person knows where to look next.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress

from eitherway.errors import Problem
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind
from eitherway.worlds.threads import inputs, note
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.launch import program_of
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import Ran, run

_REPORTED = re.compile(rb"^eitherway: ([\w()]+: .*)$", re.MULTILINE)  # "ptrace: what it does"
_ENDINGS = (b"deadlock: ",)  # what the runtime says of a run, which is no function
_UNTAMED = re.compile(r"\s(rdtscp?|rdrand|rdseed|rdpmc)\b")
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
_SOME = 3  # of what could be many
_KEPT = "eitherway record --sandbox keeps them as they are"
_PATIENCE = 30.0  # seconds
_AHEAD = 10**9  # nanoseconds: a run begins with the next whole second of its clock
_LAG = 10**7  # by which the times of files may be behind


def likely_causes(recorded: Recorded, again: Ran, *, fixed: bool, boxed: bool) -> list[str]:
    """What could have made the difference; never empty."""
    found = [
        *_addresses(fixed),
        *_said(again),
        *(_files(recorded) or _newer(recorded)),
        *(_place(recorded) if boxed else []),
        *_instructions(program_of(recorded.launch)),
        *_unseen(program_of(recorded.launch)),
        *_children(recorded.ran),
    ]
    usual = "nothing that is known of this program explains it; docs/threads.md lists what can"
    return found or [usual]


def _addresses(fixed: bool) -> Iterator[str]:
    if not fixed:
        yield (
            "addresses are other ones in every run, for this machine refuses to fix them "
            "(eitherway doctor): a program that depends on them cannot replay"
        )


def _said(again: Ran) -> Iterator[str]:
    """The runtime tells on standard error what it does not control."""
    for words in dict.fromkeys(_REPORTED.findall(again.err.beginning)):
        if not words.startswith(_ENDINGS):
            yield f"the program called what is not controlled: {words.decode(errors='replace')}"


def _files(recorded: Recorded) -> list[str]:
    """Files that the run writes were changed by the recorded one already: found by doing it."""
    if recorded.boxed:
        return []
    try:
        box = Sandbox(require=[Kind.FILES], work=[recorded.launch.directory])
    except Problem:
        return ["files are taken to be as they were, and nothing here can tell whether they are"]
    with box:
        run(recorded.launch, replay=recorded.ran, plan=Plan(timeout=_PATIENCE), box=box)
        paths = [change.path for change in box.changes()]
    changes = f"it changes files, which the recorded run changed before: {_few(paths)}; {_KEPT}"
    return [changes] if paths else []


def _newer(recorded: Recorded) -> list[str]:
    """A file that it made is there when it runs again, and goes another way that makes none."""
    if recorded.boxed:
        return []
    since = inputs.started(recorded.ran.members[0].inputs) if recorded.ran.members else 0
    paths: list[str] = []
    with suppress(OSError), os.scandir(recorded.launch.directory) as folder:
        files = [each for each in folder if each.is_file(follow_symlinks=False)]
        paths = sorted(
            each.path for each in files if each.stat().st_mtime_ns >= since - _AHEAD - _LAG
        )
    words = f"what lies where it ran has changed since it began: {_few(paths)}; {_KEPT}"
    return [words] if since and paths else []


def _place(recorded: Recorded) -> Iterator[str]:
    if not recorded.boxed:
        yield (
            "it was recorded outside of a sandbox and done again in one, where some files and "
            "devices are others (docs/isolation.md): eitherway replay --keep does it outside"
        )


def _instructions(program: str) -> Iterator[str]:
    """Clocks and dice of the processor, in the program itself."""
    found = list(dict.fromkeys(_untamed(program)))
    if found:
        yield f"it asks the processor itself: {_few(found)}; that is not taken over"


def _untamed(program: str) -> Iterator[str]:
    objdump = shutil.which("objdump")
    if objdump is None:
        return
    command = [objdump, "-d", "-C", "--no-show-raw-insn", "-j", ".text", program]
    function = "?"
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
    ) as process:
        for line in process.stdout or ():
            if match := _FUNCTION.match(line):
                function = match[1]
            elif (match := _UNTAMED.search(line)) and not function.startswith("ew_"):
                yield f"{match[1]} in {function}"


def _unseen(program: str) -> Iterator[str]:
    try:
        told = note.read(program)
    except Problem:
        return
    if told and told.share is not None and told.share < 1:
        files = f": {_few(list(told.unseen))}" if told.unseen else ""
        yield (
            f"{1 - told.share:.0%} of its code was not compiled by eitherway cc{files}; threads "
            "that run there are not stopped between two accesses"
        )


def _children(ran: Ran) -> Iterator[str]:
    if ran.left:
        yield "it has children that run on their own, and what they write comes when it comes"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _SOME} more" if len(names) > _SOME else ""
    return ", ".join(names[:_SOME]) + more
