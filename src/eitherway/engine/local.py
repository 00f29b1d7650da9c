# SPDX-License-Identifier: Apache-2.0
"""Workers of this machine, each with a tool of its own that only one task has at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Generic, TypeVar

from eitherway.closing import Closing

Tool = TypeVar("Tool")
Result = TypeVar("Result")


class Workers(Closing, Generic[Tool]):
    """As many tasks at a time as there are tools; the tools stay the caller's.

    A thread for each is enough: what takes its time is done by processes that the tools hold.
    """

    def __init__(self, tools: Sequence[Tool], executor: Executor | None = None) -> None:
        """Any executor will do; without one, as many threads as there are tools."""
        if not tools:
            raise ValueError("there is nothing to work with")
        self.count = len(tools)
        self._executor = executor or ThreadPoolExecutor(len(tools))
        self._free: SimpleQueue[Tool] = SimpleQueue()
        for tool in tools:
            self._free.put(tool)

    def submit(self, task: Callable[[Tool], Result]) -> Future[Result]:
        """Done by whoever is free next."""

        def work() -> Result:
            tool = self._free.get()
            try:
                return task(tool)
            finally:
                self._free.put(tool)

        return self._executor.submit(work)

    def close(self) -> None:
        """Wait for what is under way; the rest is not begun."""
        self._executor.shutdown(wait=True, cancel_futures=True)
