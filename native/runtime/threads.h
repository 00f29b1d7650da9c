// SPDX-License-Identifier: Apache-2.0
// Threads of the target: creation, end, and what hangs on them.
#ifndef EITHERWAY_THREADS_H
#define EITHERWAY_THREADS_H

#include "runtime.h"

_Noreturn void ew_thread_end(void *result); // the running thread is over
struct ew_thread *ew_thread_of(pthread_t handle);
void ew_threads_prepare(uint32_t count); // makes what so many threads need, ahead of time

// specific.c: thread_local destructors, then those of pthread keys, as glibc orders them
void ew_run_thread_destructors(void);
void ew_specific_start(struct ew_thread *first);

// syscall.c: the thread whose number is the process's; after fork, the one that called it
extern uint32_t ew_first_thread;

// mutex.c: robust mutexes that the running thread takes to its grave
void ew_mutexes_of_ending(void);

#endif
