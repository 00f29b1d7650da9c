// SPDX-License-Identifier: Apache-2.0
// What the families of synchronisation functions share: arguments that mean a moment, and sharing
// with other processes.
#ifndef EITHERWAY_SYNC_H
#define EITHERWAY_SYNC_H

#include "runtime.h"

// A second name: libc's own libraries, and programs built long ago, use those with underscores.
#define EW_ALIAS(name, of) __asm__(".globl " #name "\n.set " #name ", " #of "\n")

// The clocks that POSIX lets a wait name, and glibc accepts.
static inline bool ew_is_wait_clock(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

#define EW_SHARED 128 // glibc's bit for it, in a mutex and a semaphore

static inline bool ew_is_sharing(int value) {
    return value == PTHREAD_PROCESS_PRIVATE || value == PTHREAD_PROCESS_SHARED;
}

// --- shared.c: memory that other processes have too

// Until another process may have changed something; the caller looks again.
enum ew_woken ew_wait_elsewhere(int64_t deadline);

// Attempts something there, by an atomic operation: what came of it is part of the recording. In a
// replay it is attempted until the others have come as far as they had.
typedef bool ew_elsewhere_attempt(void *argument);
bool ew_try_elsewhere(ew_elsewhere_attempt *attempt, void *argument);

bool ew_is_shared_memory(const void *address);

// A thread of another process cannot be stopped by us. Said when an object is made that others
// could use; within this process it is controlled like any other.
static inline void ew_say_if_shared(const char *function, int sharing) {
    if (sharing == PTHREAD_PROCESS_SHARED)
        ew_report(function, "an object for several processes is controlled within this one only");
}

#endif
