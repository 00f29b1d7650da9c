# SPDX-License-Identifier: Apache-2.0
"""Small C programs out of a seed, whose threads synchronise in every way and race at random.

Straight-line code: each place in it runs once, so that every access can be told from the others.
"""

from collections.abc import Callable, Sequence
from random import Random

_HEAD = """\
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
typedef uint16_t __attribute__((aligned(1), may_alias)) loose2;
typedef uint32_t __attribute__((aligned(1), may_alias)) loose4;
typedef uint64_t __attribute__((aligned(1), may_alias)) loose8;
static char memory[24] __attribute__((aligned(64)));
static char *block;
static int atoms[3];
static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t onces[2];
static pthread_mutex_t condition_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int condition_holds;
static int ends[2], event;
static __thread volatile uint64_t sink;
static __thread char byte;
static __thread uint64_t count;
"""
_SIZE = 24  # bytes of `memory` and of `block`
_TYPES = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
_LOOSE = {2: "loose2", 4: "loose4", 8: "loose8"}
_ORDERS = ("RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST")
_LOADS, _STORES = ("RELAXED", "ACQUIRE", "SEQ_CST"), ("RELAXED", "RELEASE", "SEQ_CST")
_FAILS = {"ACQUIRE": _LOADS[:2], "ACQ_REL": _LOADS[:2], "SEQ_CST": _LOADS}  # an exchange does not

Lines = list[str]


def batch(seeds: Sequence[int]) -> str:
    """One source with a program for each seed; its argument is the number of one."""
    parts = [_Program(seed, number).text() for number, seed in enumerate(seeds)]
    calls = "".join(f"    if (which == {n}) main{n}();\n" for n in range(len(parts)))
    main = "int main(int count, char **arguments) {\n    int which = atoi(arguments[count - 1]);\n"
    main += f"    sem_init(&semaphore, 0, 0);\n    block = malloc({_SIZE});\n"
    main += "    pthread_spin_init(&spin, 0);\n    event = eventfd(0, EFD_NONBLOCK);\n"
    main += "    if (pipe2(ends, O_NONBLOCK))\n        return 1;\n"
    return "\n".join([_HEAD, *parts, f"{main}{calls}    return 0;\n}}\n"])


class _Program:
    """Two to four threads, each a function of its own, and what the main thread does meanwhile."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = Random(seed)  # noqa: S311  # not for secrets
        self.number = number
        self.frees = self.random.random() < 0.3  # somebody frees the block while others run
        self.meet = self.random.random() < 0.3  # all but main come to a barrier
        self.waits = self.random.random() < 0.4  # some wait for what main says before it joins
        self.functions: Lines = []  # that threads call or begin with

    def text(self) -> str:
        threads = range(self.random.randint(2, 4))
        for once in (0, 1):
            self._function(f"static void once{self.number}_{once}(void)", self._steps(1, 2))
        for thread in threads:
            self._thread(thread)
        lines = ["pthread_t threads[4];"]
        if self.meet:
            lines.append(f"pthread_barrier_init(&barrier, 0, {len(threads)});")
        for thread in threads:
            lines.append(f"pthread_create(&threads[{thread}], 0, f{self.number}_{thread}, 0);")
            lines += self._steps(1, 1)
        lines += [*self._steps(2, 2), *self._say()]
        for thread in threads:
            lines += [f"pthread_join(threads[{thread}], 0);", *self._steps(1, 1)]
        self._function(f"static void main{self.number}(void)", lines)
        return "\n".join(self.functions)

    def _function(self, head: str, lines: Lines) -> None:
        body = "\n    ".join(lines)
        self.functions.append(f"{head} {{\n    {body}\n}}")

    def _thread(self, thread: int) -> None:
        """One in three has a thread of its own, which may outlive it."""
        blocks = [self._step() for _ in range(self.random.randint(4, 12))]
        if self.frees and thread == 0:
            self._put(blocks, ["free(block);"])
        if self.meet:
            self._put(blocks, ["pthread_barrier_wait(&barrier);"])
        if self.waits and self.random.random() < 0.5:
            self._put(blocks, self._await())
        if self.random.random() < 0.35:
            blocks = self._with_child(f"{self.number}_{thread}", blocks)
        for once in (0, 1):
            if self.random.random() < 0.4:
                self._put(blocks, [f"pthread_once(&onces[{once}], once{self.number}_{once});"])
        steps = [line for block in blocks for line in block]
        self._function(f"static void *f{self.number}_{thread}(void *x)", [*steps, "return x;"])

    def _put(self, blocks: list[Lines], block: Lines) -> None:
        """Somewhere: not between a lock and its unlock."""
        blocks.insert(self.random.randrange(len(blocks) + 1), block)

    def _with_child(self, name: str, blocks: list[Lines]) -> list[Lines]:
        self._function(f"static void *child{name}(void *x)", [*self._steps(1, 4), "return x;"])
        at = self.random.randrange(len(blocks) + 1)
        create = ["pthread_t child;", f"pthread_create(&child, 0, child{name}, 0);"]
        end = self.random.choice(["pthread_join(child, 0);", "pthread_detach(child);"])
        return [*blocks[:at], create, *blocks[at:], [end]]

    def _await(self) -> Lines:
        wait = "pthread_cond_wait(&condition, &condition_lock);"
        return [
            "pthread_mutex_lock(&condition_lock);",
            f"while (!condition_holds) {wait}",
            "pthread_mutex_unlock(&condition_lock);",
        ]

    def _say(self) -> Lines:
        """To all who wait; outside of the lock, perhaps."""
        wake = "pthread_cond_broadcast(&condition);"
        set_it = ["pthread_mutex_lock(&condition_lock);", "condition_holds = 1;"]
        unlock = "pthread_mutex_unlock(&condition_lock);"
        if self.random.random() < 0.5:
            return [*set_it, wake, unlock]
        return [*set_it, unlock, *self._steps(1, 1), wake]

    def _steps(self, least: int, most: int) -> Lines:
        return [line for _ in range(self.random.randint(least, most)) for line in self._step()]

    def _step(self) -> Lines:
        kinds: dict[Callable[[], Lines], int] = {
            self._access: 44,
            self._copy: 8,
            self._locked: 18,
            self._read_locked: 8,
            self._tried: 5,
            self._spinning: 4,
            self._semaphore: 6,
            self._channel: 6,
            self._fence: 4,
            self._atomic: 14,
            self._exchange: 6,
            self._own_block: 6,
        }
        return self.random.choices([*kinds], [*kinds.values()])[0]()

    def _place(self, size: int, *, aligned: bool = True) -> str:
        step = size if aligned else 1
        at = self.random.randrange((_SIZE - size) // step + 1) * step
        return f"({self.random.choice(['memory', 'memory', 'block'])} + {at})"

    def _access(self) -> Lines:
        size = self.random.choice([1, 1, 2, 4, 4, 8])
        aligned = size == 1 or self.random.random() < 0.85
        name = _TYPES[size] if aligned else _LOOSE[size]
        place = f"*({name} *){self._place(size, aligned=aligned)}"
        return [f"{place} = 1;" if self.random.random() < 0.5 else f"sink = {place};"]

    def _copy(self) -> Lines:
        size = self.random.randint(1, 12)
        here, there = (self._place(size, aligned=False) for _ in range(2))
        if self.random.random() < 0.5:
            return [f"memmove({here}, {there}, {size});"]
        return [f"memset({here}, 1, {size});"]

    def _own_block(self) -> Lines:
        size = self.random.choice([8, 24, 40])
        inside = [f"own[{self.random.randrange(size)}] = 1;" for _ in range(2)]
        if self.random.random() < 0.4:
            inside.insert(1, f"own = realloc(own, {self.random.choice([size, size + 30])});")
        return ["{", f"char *own = malloc({size});", *inside, "free(own);", "}"]

    def _locked(self) -> Lines:
        lock = f"&locks[{self.random.randrange(3)}]"
        inside = [line for _ in range(self.random.randint(1, 3)) for line in self._simple()]
        return [f"pthread_mutex_lock({lock});", *inside, f"pthread_mutex_unlock({lock});"]

    def _read_locked(self) -> Lines:
        side = self.random.choice(["rd", "rd", "wr"])
        inside = [line for _ in range(self.random.randint(1, 3)) for line in self._simple()]
        return [f"pthread_rwlock_{side}lock(&rwlock);", *inside, "pthread_rwlock_unlock(&rwlock);"]

    def _tried(self) -> Lines:
        """A lock that is got or not: then nothing orders what is done."""
        kind, lock = self.random.choice(
            [("mutex_try", "locks[0]"), ("rwlock_tryrd", "rwlock"), ("rwlock_trywr", "rwlock")]
        )
        unlock = f"pthread_{kind.partition('_')[0]}_unlock(&{lock});"
        got = f"int got = !pthread_{kind}lock(&{lock});"
        return ["{", got, *self._simple(), f"if (got) {unlock}", "}"]

    def _spinning(self) -> Lines:
        return ["pthread_spin_lock(&spin);", *self._simple(), "pthread_spin_unlock(&spin);"]

    def _channel(self) -> Lines:
        """Something is put in, or taken if there is anything."""
        return self.random.choice(
            [
                ["if (write(ends[1], &byte, 1) < 0) sink = 0;"],
                ["if (read(ends[0], &byte, 1) < 0) sink = 0;"],
                ["eventfd_write(event, 1);"],
                ["eventfd_read(event, &count);"],
            ]
        )

    def _simple(self) -> Lines:
        return self.random.choice([self._access, self._access, self._atomic, self._copy])()

    def _semaphore(self) -> Lines:
        return [self.random.choice(["sem_post(&semaphore);", "sem_trywait(&semaphore);"])]

    def _fence(self) -> Lines:
        return [f"__atomic_thread_fence(__ATOMIC_{self.random.choice(_ORDERS[1:])});"]

    def _atom(self) -> str:
        """One that is only ever that, or some of the memory that is touched in other ways too."""
        if self.random.random() < 0.8:
            return f"&atoms[{self.random.randrange(3)}]"
        size = self.random.choice([1, 2, 4, 4, 8])
        return f"({_TYPES[size]} *){self._place(size)}"

    def _exchange(self) -> Lines:
        atom, order = self._atom(), self.random.choice(_ORDERS)
        if self.random.random() < 0.4:
            return [f"sink = __atomic_exchange_n({atom}, 1, __ATOMIC_{order});"]
        fails = f"__ATOMIC_{self.random.choice(_FAILS.get(order, _LOADS[:1]))}"
        expected = f"__typeof__(*{atom}) expected = {self.random.randrange(2)};"
        call = f"__atomic_compare_exchange_n({atom}, &expected, 2, 0, __ATOMIC_{order}, {fails});"
        return ["{", expected, f"sink = {call}", "}"]

    def _atomic(self) -> Lines:
        atom = self._atom()
        kind = self.random.random()
        if kind < 0.4:
            return [f"sink = __atomic_load_n({atom}, __ATOMIC_{self.random.choice(_LOADS)});"]
        if kind < 0.7:
            return [f"__atomic_store_n({atom}, 1, __ATOMIC_{self.random.choice(_STORES)});"]
        return [f"__atomic_fetch_add({atom}, 1, __ATOMIC_{self.random.choice(_ORDERS)});"]
