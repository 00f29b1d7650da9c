# SPDX-License-Identifier: Apache-2.0
"""What a run did, as far as others see it: how it ended, what each wrote, which files it left."""

import os
import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping

from eitherway.model.outcome import Ending, Forced, Outcome, signal_name
from eitherway.model.paths import portable_path
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.contents import told
from eitherway.worlds.processes.log import DataKind, Log
from eitherway.worlds.processes.run import Ran
from eitherway.worlds.processes.tree import Tree, short

_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
_TEMPORARY = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108  only looked at
_STREAMS = {
    DataKind.STANDARD_OUTPUT: "standard output",
    DataKind.STANDARD_ERROR: "standard error",
}


def outcome_of(ran: Ran, box: Sandbox) -> Outcome:
    """Of a run whose files still lie in its sandbox."""
    log, tree = ran.log, Tree(ran.log)
    ending, code = _ending(log)
    return Outcome(
        ending=ending,
        code=code,
        output={**_written(ran, tree), **files_of(box)},
        steps=len(log.calls),
        complaints=tuple(sorted(set(_crashes(tree)))),
        forced=Forced(log.ending.forced),
    )


def _ending(log: Log) -> tuple[Ending, int]:
    if log.ending.hangs:
        return Ending.HANG, 0
    if log.ending.endless:
        return Ending.BUDGET, 0
    status = log.ending.status
    if os.WIFSIGNALED(status):
        return Ending.SIGNAL, os.WTERMSIG(status)
    return Ending.EXIT, os.WEXITSTATUS(status)


def _crashes(tree: Tree) -> Iterator[str]:
    for life in tree.lives.values():
        status = life.status or 0
        if life.is_process and os.WIFSIGNALED(status) and os.WTERMSIG(status) in _CRASHES:
            name = _title(tree, life.thread)
            yield f"'{name}' is killed by {signal_name(os.WTERMSIG(status))}"


def _written(ran: Ran, tree: Tree) -> dict[str, str]:
    """By stream and command: which of two that write at once comes first is nobody's promise."""
    written: dict[tuple[DataKind, int], bytearray] = defaultdict(bytearray)
    for datum in ran.log.data:
        if datum.kind in _STREAMS:
            thread = int(ran.log.calls["thread"][datum.call])
            written[datum.kind, tree.lives[thread].process] += datum.data
    found: dict[str, list[str]] = defaultdict(list)
    for (kind, process), text in written.items():
        name = f"{_STREAMS[kind]} of '{_title(tree, process)}'"
        found[name].append(told(bytes(text)))
    return {name: ", ".join(sorted(texts)) for name, texts in found.items()}


def files_of(box: Sandbox) -> Mapping[str, str]:
    """What became of files: content, type and permissions; when is nobody's promise either."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, content in box.contents().items():
        found[f"file {_stable(path)}"].append(content)
    return {name: ", ".join(sorted(contents)) for name, contents in found.items()}


def _title(tree: Tree, process: int) -> str:
    return short(tuple(map(_stable, tree.command(process))))


def _stable(word: str) -> str:
    """Without the random part of a temporary file's name, which is another in every run."""
    if not word.startswith(_TEMPORARY):
        return word
    folder, _, _ = word.rpartition("/")
    return f"{folder}/{portable_path(word)}"
