# SPDX-License-Identifier: Apache-2.0
"""Small C programs out of a seed, whose threads synchronise in every way and race at random.

Straight-line code: each place in it runs once, so that every access can be told from the others.
"""

from collections.abc import Callable, Sequence
from random import Random

_HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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
static __thread volatile uint64_t sink;
"""
_SIZE = 24  # bytes of `memory` and of `block`
_TYPES = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
_LOOSE = {2: "loose2", 4: "loose4", 8: "loose8"}
_ORDERS = ("RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST")
_LOADS, _STORES = ("RELAXED", "ACQUIRE", "SEQ_CST"), ("RELAXED", "RELEASE", "SEQ_CST")

Lines = list[str]


def batch(seeds: Sequence[int]) -> str:
    """One source with a program for each seed; its argument is the number of one."""
    parts = [_Program(seed, number).text() for number, seed in enumerate(seeds)]
    calls = "".join(f"    if (which == {n}) main{n}();\n" for n in range(len(parts)))
    main = "int main(int count, char **arguments) {\n    int which = atoi(arguments[count - 1]);\n"
    main += f"    sem_init(&semaphore, 0, 0);\n    block = malloc({_SIZE});\n"
    return "\n".join([_HEAD, *parts, f"{main}{calls}    return 0;\n}}\n"])


class _Program:
    """Two to four threads, each a function of its own, and what the main thread does meanwhile."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = Random(seed)  # noqa: S311  # not for secrets
        self.number = number
        self.frees = self.random.random() < 0.3  # somebody frees the block while others run

    def text(self) -> str:
        threads = range(self.random.randint(2, 4))
        parts = [self._function(thread) for thread in threads]
        lines = ["pthread_t threads[4];"]
        for thread in threads:
            lines.append(f"pthread_create(&threads[{thread}], 0, f{self.number}_{thread}, 0);")
            lines += self._step()
        lines += [*self._step(), *self._step()]
        for thread in threads:
            lines += [f"pthread_join(threads[{thread}], 0);", *self._step()]
        body = "\n    ".join(lines)
        return "\n".join([*parts, f"static void main{self.number}(void) {{\n    {body}\n}}"])

    def _function(self, thread: int) -> str:
        lines = [line for _ in range(self.random.randint(4, 12)) for line in self._step()]
        if self.frees and thread == 0:
            lines.insert(self.random.randrange(len(lines) + 1), "free(block);")
        body = "\n    ".join(lines)
        return f"static void *f{self.number}_{thread}(void *x) {{\n    {body}\n    return x;\n}}"

    def _step(self) -> Lines:
        kinds: dict[Callable[[], Lines], int] = {
            self._access: 44,
            self._copy: 8,
            self._locked: 18,
            self._read_locked: 8,
            self._semaphore: 6,
            self._fence: 4,
            self._atomic: 14,
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
        return ["{", f"char *own = malloc({size});", *inside, "free(own);", "}"]

    def _locked(self) -> Lines:
        lock = f"&locks[{self.random.randrange(3)}]"
        inside = [line for _ in range(self.random.randint(1, 3)) for line in self._simple()]
        return [f"pthread_mutex_lock({lock});", *inside, f"pthread_mutex_unlock({lock});"]

    def _read_locked(self) -> Lines:
        side = self.random.choice(["rd", "rd", "wr"])
        inside = [line for _ in range(self.random.randint(1, 3)) for line in self._simple()]
        return [f"pthread_rwlock_{side}lock(&rwlock);", *inside, "pthread_rwlock_unlock(&rwlock);"]

    def _simple(self) -> Lines:
        return self.random.choice([self._access, self._access, self._atomic, self._copy])()

    def _semaphore(self) -> Lines:
        return [self.random.choice(["sem_post(&semaphore);", "sem_trywait(&semaphore);"])]

    def _fence(self) -> Lines:
        return [f"__atomic_thread_fence(__ATOMIC_{self.random.choice(_ORDERS[1:])});"]

    def _atomic(self) -> Lines:
        atom = f"&atoms[{self.random.randrange(3)}]"
        if self.random.random() < 0.2:
            atom = f"(int *){self._place(4)}"
        kind = self.random.random()
        if kind < 0.4:
            return [f"sink = __atomic_load_n({atom}, __ATOMIC_{self.random.choice(_LOADS)});"]
        if kind < 0.7:
            return [f"__atomic_store_n({atom}, 1, __ATOMIC_{self.random.choice(_STORES)});"]
        return [f"__atomic_fetch_add({atom}, 1, __ATOMIC_{self.random.choice(_ORDERS)});"]
