# SPDX-License-Identifier: Apache-2.0
"""What races in every run and is meant to: the tokens of make's jobserver, the cache of ccache."""

import re
from collections import defaultdict

from eitherway.worlds.processes.calls import call_of
from eitherway.worlds.processes.traced import NO_CALL, Traced

JOBSERVER = "tokens of make's jobserver"
CCACHE = "the cache of ccache"
_MAKE = re.compile(r"(?:.*/)?(?:g?make|ninja)")
_FIFO = re.compile(r"GMfifo\d+$")
_CACHE = re.compile(r"/\.?ccache/")
_PIPES = ("pipe", "pipe2")
_TOKENS = ("read", "write")


class Known:
    """Of one run."""

    def __init__(self, traced: Traced) -> None:
        self._traced = traced
        self._jobservers = _jobservers(traced)

    def reason(self, operations: tuple[int, ...]) -> str:
        """Why these are not worth a try; nothing when they are."""
        for operation in operations:
            path = self._traced.describe(operation).variable
            call = int(self._traced.call[operation])
            if call != NO_CALL and int(self._traced.log.calls["object"][call]) in self._jobservers:
                return JOBSERVER
            if _FIFO.search(path):
                return JOBSERVER
            if _CACHE.search(path):
                return CCACHE
        return ""


def _jobservers(traced: Traced) -> set[int]:
    """Pipes that make made and that only single bytes go through."""
    log, made, sizes = traced.log, set[int](), defaultdict[int, set[int]](set)
    for number in range(len(log.calls)):
        name = traced.name(number)
        if name in _PIPES:
            call = call_of(log, number)
            words = traced.tree.command(call.thread, call.when)
            if words and _MAKE.fullmatch(words[0]):
                made.add(call.second)
        elif name in _TOKENS:
            sizes[int(log.calls["object"][number])].add(int(log.calls["a2"][number]))
    return {pipe for pipe in made if sizes[pipe] <= {1}}
