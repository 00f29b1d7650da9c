// SPDX-License-Identifier: Apache-2.0
// Mutexes, for those who let go of one while they wait, and who know whose call it was.
#ifndef EITHERWAY_MUTEX_H
#define EITHERWAY_MUTEX_H

#include "runtime.h"

// Lives in the memory of a pthread_mutex_t; all zero is PTHREAD_MUTEX_INITIALIZER. `kind` stands
// where glibc's static initialisers put it.
struct ew_mutex {
    uint64_t owner; // thread number + 1; 0 is free
    uint32_t waiting;
    uint16_t robust_state;
    uint16_t ceiling;
    int32_t kind;                     // glibc's bits
    uint32_t depth;                   // times a recursive mutex was taken again
    struct ew_mutex *next, *previous; // robust mutexes of one owner
};
_Static_assert(sizeof(struct ew_mutex) <= sizeof(pthread_mutex_t), "does not fit");
_Static_assert(offsetof(struct ew_mutex, kind) == offsetof(pthread_mutex_t, __data.__kind),
               "glibc's initialisers would miss it");

EW_DATA bool ew_mutexes_name_processes; // as owners: some did, so far

#define EW_NOT_A_TIME INT64_MIN // a deadline that is wrong only if there is need to wait

// Each returns what the pthread function of that name returns. `pc` is the caller's place.
int ew_mutex_lock(struct ew_mutex *mutex, int64_t deadline, const void *pc);
int ew_mutex_trylock(struct ew_mutex *mutex, const void *pc);
int ew_mutex_unlock(struct ew_mutex *mutex, const void *pc);
int64_t ew_mutex_deadline(clockid_t clock, const struct timespec *when);

// The same without a decision point first: inside a wait.
int ew_mutex_take(struct ew_mutex *mutex, int64_t deadline, const void *pc);
int ew_mutex_give(struct ew_mutex *mutex, const void *pc);

int ew_cond_wait(pthread_cond_t *condition, struct ew_mutex *mutex, int64_t deadline,
                 const void *pc);
int ew_cond_wake(pthread_cond_t *condition, bool all, const void *pc);
int64_t ew_cond_deadline(const pthread_cond_t *condition, const struct timespec *when);

#endif
