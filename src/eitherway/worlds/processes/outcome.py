# SPDX-License-Identifier: Apache-2.0
"""What a run did, as far as others see it: how it ended, what each wrote, which files it left."""

import ast
import os
import re
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

from eitherway.model.outcome import Ending, Forced, Outcome, signal_name
from eitherway.model.paths import portable_path
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.contents import told
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.circles import goes_round
from eitherway.worlds.processes.errors import error_lines, is_log, lines_of
from eitherway.worlds.processes.known import CACHE, in_any_order
from eitherway.worlds.processes.log import CallFlag, DataKind, Log
from eitherway.worlds.processes.moments import Moments
from eitherway.worlds.processes.refused import refused
from eitherway.worlds.processes.run import Ran
from eitherway.worlds.processes.serving import serves
from eitherway.worlds.processes.tree import Tree, short

TEXT = 1 << 14  # bytes of a file or of output that are kept, to tell how two differ
Kept = Callable[[bytes], bytes]
Written = dict[tuple[DataKind, str], list[bytes]]  # by stream and command
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
_TEMPORARY = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108  only looked at
# How long each command took, and when: another in every run.
_TIMES = re.compile(r"(^|/)\.ninja_(log|deps)$")
_NUMBERS = {call.name: number for number, call in CALLS.items()}
_FUTEX, _END = _NUMBERS["futex"], _NUMBERS["exit_group"]
_STREAMS = {
    DataKind.STANDARD_OUTPUT: "standard output",
    DataKind.STANDARD_ERROR: "standard error",
}


def outcome_of(ran: Ran, box: Sandbox, kept: Kept = bytes) -> Outcome:
    """Of a run whose files still lie in its sandbox; `kept` is what counts of some output."""
    log, tree = ran.log, Tree(ran.log)
    ending, code = _ending(log)
    written, files = _by_writer(log, tree, kept), files_of(box)
    same = Moments(log).masked
    texts, shown = _written(written), _written(_by_writer(log, tree, kept, sort=False))
    output = {**texts, **files}
    return Outcome(
        ending=ending,
        code=code,
        output={name: same(content) for name, content in output.items()},
        shown={name: text for name, text in shown.items() if text != texts[name]},
        steps=len(log.calls),
        complaints=tuple(sorted(set(_crashes(tree)))),
        errors=tuple(sorted(set(map(same, (*_said(written, error_lines), *_logged(files)))))),
        said=tuple(sorted(set(map(same, (*_said(written, lines_of), *_logged(files)))))),
        forced=Forced(log.ending.forced),
        refused=bool(refused(log)),
    )


def written_by(log: Log) -> dict[str, str]:
    """What each command wrote to which stream."""
    return _written(_by_writer(log, Tree(log), bytes, sort=False))


def _ending(log: Log) -> tuple[Ending, int]:
    if log.ending.hangs and serves(log):
        return Ending.SERVES, 0
    if log.ending.hangs and not _in_memory(log):
        return Ending.DEADLOCK, 0
    if log.ending.endless and goes_round(log):
        return Ending.HANG, 0
    if log.ending.hangs or log.ending.endless or log.ending.late:
        return Ending.BUDGET, 0
    status = log.ending.status
    if os.WIFSIGNALED(status):
        return Ending.SIGNAL, os.WTERMSIG(status)
    return Ending.EXIT, os.WEXITSTATUS(status)


def _in_memory(log: Log) -> bool:
    """Whether a process sleeps whose threads wait for nothing but each other.

    What they do in memory is not put in order: that they hang may be our doing, and is no account
    of the calls that were.
    """
    tree, rows = Tree(log), log.calls
    over = set(map(int, rows["thread"][rows["number"] == _NUMBERS["exit"]]))
    gone = {tree.lives[int(thread)].process for thread in rows["thread"][rows["number"] == _END]}
    living = (life for life in tree.lives.values() if life.thread not in over)
    threads = Counter(life.process for life in living if life.process not in gone)
    elsewhere = (rows["flags"] & CallFlag.NEVER_RETURNED != 0) & (rows["number"] != _FUTEX)
    held = {tree.lives[int(thread)].process for thread in rows["thread"][elsewhere]}
    return any(count > 1 and process not in held for process, count in threads.items())


def _crashes(tree: Tree) -> Iterator[str]:
    for life in tree.lives.values():
        status = life.status or 0
        if life.is_process and os.WIFSIGNALED(status) and os.WTERMSIG(status) in _CRASHES:
            name = _title(tree, life.thread)
            yield f"'{name}' is killed by {signal_name(os.WTERMSIG(status))}"


def _by_writer(log: Log, tree: Tree, kept: Kept, *, sort: bool = True) -> Written:
    """By stream and command: which of two that write at once comes first is nobody's promise.

    Nor is in which order make tells what it does: that is made the same, to `sort`.
    """
    written: dict[tuple[DataKind, int], list[bytes]] = defaultdict(list)
    for datum in log.data:
        if datum.kind in _STREAMS:
            thread = int(log.calls["thread"][datum.call])
            written[datum.kind, tree.lives[thread].process].append(datum.data)
    found: Written = defaultdict(list)
    for (kind, process), texts in written.items():
        ordered = in_any_order(tree.command(process), texts) if sort else texts
        found[kind, _title(tree, process)].append(kept(b"".join(ordered)))
    return found


def _written(written: Written) -> dict[str, str]:
    return {
        f"{_STREAMS[kind]} of '{title}'": ", ".join(sorted(told(text, TEXT) for text in texts))
        for (kind, title), texts in written.items()
    }


def _said(written: Written, lines: Callable[[bytes], Iterator[str]]) -> Iterator[str]:
    for (kind, title), texts in written.items():
        if kind is DataKind.STANDARD_ERROR:
            for line in dict.fromkeys(line for text in texts for line in lines(text)):
                yield f"'{title}' says '{line}'"


def _logged(files: Mapping[str, str]) -> Iterator[str]:
    for name, content in files.items():
        if is_log(name):
            for line in error_lines(text_of(content).encode()):
                yield f"{name} says '{line}'"


def text_of(content: str) -> str:
    """The text that a short file holds; nothing when it is told as a digest."""
    _, _, rest = content.partition(" ")
    if not rest.startswith(("'", '"')):
        return ""
    try:
        return str(ast.literal_eval(rest))
    except (SyntaxError, ValueError):  # several files of one name
        return ""


def files_of(box: Sandbox) -> Mapping[str, str]:
    """What became of files: content, type and permissions; when is nobody's promise either."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, content in box.contents(TEXT).items():
        if _TIMES.search(path) or CACHE.search(path):
            continue
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
