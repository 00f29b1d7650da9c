# SPDX-License-Identifier: Apache-2.0
"""What races in every run and is meant to: tokens of make's jobserver, caches, progress."""

import re

import numpy as np

from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.operations import NO_CALL
from eitherway.worlds.processes.traced import Traced

JOBSERVER = "tokens of make's jobserver"
CCACHE = "the cache of ccache"
PROGRESS = "the progress that CMake tells"
MAPPED = "files that two map, and nothing else is seen to be done to: either finds the same"
_MAKE = re.compile(r"(?:.*/)?(?:g?make|ninja)")
_DONE = re.compile(rb"^\[\d+/\d+\] ", re.MULTILINE)  # of ninja: how many, and of how many
_FIFO = re.compile(r"GMfifo\d+$")
# Of a directory that has this name and is no cache, all else counts.
CACHE = re.compile(r"/\.?ccache/([0-9a-f]|tmp|lock|stats|ccache\.conf|CACHEDIR\.TAG)(/|$)")
_CACHE_ITSELF = re.compile(r"/(\.ccache|\.cache/ccache)$")
_COUNTED = re.compile(r"/CMakeFiles/Progress(/|$)")
_PIPES = [number for number, call in CALLS.items() if call.name in ("pipe", "pipe2")]
_TOKENS = [number for number, call in CALLS.items() if call.name in ("read", "write")]


def in_any_order(words: tuple[str, ...], written: list[bytes]) -> list[bytes]:
    """What a command wrote; of make what it starts and what came of it, whichever is first.

    With several jobs it goes on with whichever is over.
    """
    if not words or not _MAKE.fullmatch(words[0]):
        return written
    return sorted(_DONE.sub(b"", text) for text in written)


class Known:
    """Of one run."""

    def __init__(self, traced: Traced) -> None:
        self._traced = traced
        self._jobservers = _jobservers(traced)

    def reason(self, operations: tuple[int, ...]) -> str:
        """Why these are not worth a try; nothing when they are."""
        if all(self._maps(operation) for operation in operations):
            return MAPPED
        for operation in operations:
            path = self._traced.describe(operation).variable
            call = int(self._traced.call[operation])
            if call != NO_CALL and int(self._traced.log.calls["object"][call]) in self._jobservers:
                return JOBSERVER
            if _FIFO.search(path):
                return JOBSERVER
            if CACHE.search(path) or _CACHE_ITSELF.search(path):
                return CCACHE
            if _COUNTED.search(path):
                return PROGRESS
        return ""

    def _maps(self, operation: int) -> bool:
        call = int(self._traced.call[operation])
        return call != NO_CALL and self._traced.name(call) == "mmap"


def _jobservers(traced: Traced) -> set[int]:
    """Pipes that make made and that only single bytes go through."""
    calls, made = traced.log.calls, set[int]()
    for row in calls[np.isin(calls["number"], _PIPES)]:
        words = traced.tree.command(int(row["thread"]), int(row["entered"]))
        if words and _MAKE.fullmatch(words[0]):
            made.add(int(row["second"]))
    through = calls[np.isin(calls["number"], _TOKENS) & np.isin(calls["object"], list(made))]
    larger = set(through["object"][through["a2"] != 1].tolist())
    return made - larger
