// SPDX-License-Identifier: Apache-2.0
// Mutexes, for those who let go of one while they wait.
#ifndef EITHERWAY_MUTEX_H
#define EITHERWAY_MUTEX_H

#include "runtime.h"

// Lives in the memory of a pthread_mutex_t; all zero is PTHREAD_MUTEX_INITIALIZER. `kind` stands
// where glibc's static initialisers put it.
struct ew_mutex {
    uint32_t owner; // thread number + 1; 0 is free
    uint32_t depth; // times a recursive mutex was taken again
    uint32_t waiting;
    uint32_t reserved;
    int32_t kind;
};
_Static_assert(sizeof(struct ew_mutex) <= sizeof(pthread_mutex_t), "does not fit");
_Static_assert(offsetof(struct ew_mutex, kind) == offsetof(pthread_mutex_t, __data.__kind),
               "glibc's initialisers would miss it");

int ew_mutex_lock(struct ew_mutex *mutex, int64_t deadline, const void *pc);
void ew_mutex_unlock(struct ew_mutex *mutex, const void *pc);

#endif
