// SPDX-License-Identifier: Apache-2.0
// What a program says about its own order, for the files that take such words.
#ifndef EITHERWAY_TSAN_ANNOTATIONS_H
#define EITHERWAY_TSAN_ANNOTATIONS_H

#include "runtime.h"

// What happened before a release of an address has happened for whoever acquires it later.
void ew_annotate_release(const void *address, const void *pc);
void ew_annotate_acquire(const void *address, const void *pc);

// Between these the running thread's accesses are not told, and its atomic operations order
// nothing.
void ew_ignore_begin(void);
void ew_ignore_end(void);

// tsan_mutexes.c: a lock of the program's own making. `levels`: how often at once.
void ew_annotate_locked(const void *lock, bool shared, uint32_t levels, const void *pc);
uint32_t ew_annotate_unlocked(const void *lock, bool shared, bool all_levels, const void *pc);
void ew_annotate_lock_forgotten(const void *lock);

#endif
