# SPDX-License-Identifier: Apache-2.0
"""Several fork servers at work, one batch each; what they find comes in the order of the batches.

So a seed decides what is found first, however many there are and whichever is quicker.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue

from eitherway.closing import Closing
from eitherway.find.ways import Batch
from eitherway.sandbox.confined import confined
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.server import Surveyed

Done = tuple[Batch, Surveyed]
Work = Batch | Callable[[], Iterator[Done]]  # the second is done by whoever takes the results


class Crew(Closing):
    """One more than work in parallel: that one does single runs again, for whoever asks."""

    def __init__(self, launch: Launch, *, plan: Plan, threads: int, jobs: int) -> None:
        self._stack = ExitStack()
        self._jobs = jobs
        count = jobs + 1 if jobs > 1 else 1
        boxes = [self._stack.enter_context(confined()) for _ in range(count)]
        self._pool = ThreadPoolExecutor(jobs)
        # Behind the explorers, which end what runs; before the boxes that it runs in.
        self._stack.callback(self._pool.shutdown)
        self.isolation = str(boxes[0].isolation)
        try:
            self._explorers = [
                self._stack.enter_context(Explorer(launch, box, threads=threads, plan=plan))
                for box in boxes
            ]
        except BaseException:
            self._stack.close()
            raise

    @property
    def first(self) -> Explorer:
        """For single runs; alone, it also does the batches, and is free between two parts."""
        return self._explorers[0]

    def hurry(self, until: float | None) -> None:
        """From this moment on no schedule goes on."""
        for explorer in self._explorers:
            explorer.hurry(until)

    def results(self, works: Iterable[Work]) -> Generator[Done, None, None]:
        """What each part of each batch told."""
        if self._jobs > 1:
            yield from self._in_parallel(works)
            return
        for work in works:
            yield from _done(self.first, work) if isinstance(work, Batch) else work()

    def _in_parallel(self, works: Iterable[Work]) -> Generator[Done, None, None]:
        free: SimpleQueue[Explorer] = SimpleQueue()
        for explorer in self._explorers[1:]:
            free.put(explorer)

        def work(batch: Batch, told: SimpleQueue[Done | None]) -> None:
            explorer = free.get()
            try:
                for done in _done(explorer, batch):
                    told.put(done)
            finally:
                told.put(None)
                free.put(explorer)

        pending: deque[Callable[[], Iterable[Done]]] = deque()
        try:
            for next_one in works:
                if isinstance(next_one, Batch):
                    told: SimpleQueue[Done | None] = SimpleQueue()
                    pending.append(partial(_as_told, told, self._pool.submit(work, next_one, told)))
                else:
                    pending.append(next_one)
                if len(pending) > self._jobs:
                    yield from pending.popleft()()
            while pending:
                yield from pending.popleft()()
        finally:  # whoever has enough closes us next, and with us what is still at work
            self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """End them."""
        self._stack.close()


def _as_told(told: SimpleQueue[Done | None], work: Future[None]) -> Iterator[Done]:
    """Part by part: one run may take long, and somebody waits for news."""
    while (done := told.get()) is not None:
        yield done
    work.result()  # raises what went wrong


def _done(explorer: Explorer, batch: Batch) -> Iterator[Done]:
    parts = explorer.look(batch.seeds, batch.scheduler, guidance=batch.guidance, detect=True)
    return ((batch, part) for part in parts)
