# SPDX-License-Identifier: Apache-2.0
"""Two workers that each count up what a file says, as often as they find a job."""

import fcntl
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def add(locked: bool) -> None:
    """One job."""
    with open("count", "r+") as count:
        if locked:
            fcntl.flock(count, fcntl.LOCK_EX)
        number = int(count.read())
        count.seek(0)
        count.write(str(number + 1))
        count.flush()


def work(jobs: "multiprocessing.SimpleQueue[int]", locked: bool) -> None:
    """Until there are none."""
    while jobs.get():
        add(locked)


def by_queue(context: Any, locked: bool) -> None:
    """No threads: so the first worker finds all jobs, and the second none."""
    jobs = context.SimpleQueue()
    workers = [context.Process(target=work, args=(jobs, locked)) for _ in range(2)]
    for job in (1, 1, 0, 0):
        jobs.put(job)
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def by_pool(context: Any, locked: bool) -> None:
    with context.Pool(2) as pool:
        pool.map(add, [locked] * 2, chunksize=1)


def by_executor(context: Any, locked: bool) -> None:
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(add, [locked] * 2))


WAYS = {"queue": by_queue, "pool": by_pool, "executor": by_executor}

if __name__ == "__main__":
    way, start, locked = sys.argv[1:]
    with open("count", "w") as count:
        count.write("0")
    WAYS[way](multiprocessing.get_context(start), locked == "locked")
