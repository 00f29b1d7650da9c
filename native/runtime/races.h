// SPDX-License-Identifier: Apache-2.0
// What the detection has found, told once for each place, and object that is touched there, of a
// run.
#ifndef EITHERWAY_RACES_H
#define EITHERWAY_RACES_H

#include "shadow.h"

enum {
    EW_FOUND_RACE = 1,
    EW_FOUND_USE_AFTER_FREE,
    EW_FOUND_DEADLOCK,
    EW_FOUND_DOUBLE_FREE,
    EW_FOUND_INVALID_FREE,
    EW_FOUND_LOCK_MISUSE,
    EW_FOUND_HANG,
    EW_FOUND_GIVEN_UP, // no fault of the program: the runtime ended the run
    EW_FOUND_REFUSED,  // nor is this: a call was refused that would not be without the sandbox
};

// The running thread's access conflicts with the past one of the entry, and nothing orders them.
void ew_race(const struct ew_access *access, uint32_t entry, unsigned past_op);
void ew_deadlocked(const struct ew_thread *waiting); // one of the threads, none of which can go on
void ew_hung(void);                                  // the program goes round in circles
void ew_stopped(int number);                         // it stopped itself by this signal, for ever
// The runtime cannot go on with the program, which ends with that status.
void ew_gave_up(int status);
void ew_refused(void); // see refusals.h
void ew_used_after_free(const struct ew_access *access);
// The running thread gives back what was given back already, or never allocated.
void ew_freed_wrongly(const void *block, const void *pc, unsigned kind);
// The running thread does to a lock what only its holder may, or what nobody may.
void ew_misused(unsigned op, const void *lock, const void *pc);

#endif
