// SPDX-License-Identifier: Apache-2.0
// pthread_cond_*: waiters are those who wait for the address; which one a signal wakes is a choice.
#include "mutex.h"

#include <errno.h>
#include <string.h>

#define PC __builtin_return_address(0)

struct ew_cond {
    clockid_t clock;
};
_Static_assert(sizeof(struct ew_cond) <= sizeof(pthread_cond_t), "does not fit");

EW_EXPORT int pthread_cond_init(pthread_cond_t *handle, const pthread_condattr_t *attributes) {
    clockid_t clock = CLOCK_REALTIME;
    if (attributes)
        pthread_condattr_getclock(attributes, &clock);
    memset(handle, 0, sizeof *handle);
    ((struct ew_cond *)handle)->clock = clock;
    return 0;
}

EW_EXPORT int pthread_cond_destroy(pthread_cond_t *handle) {
    (void)handle;
    return 0;
}

// A recursive mutex is given back whole, and taken again to the same depth.
static int wait(pthread_cond_t *handle, pthread_mutex_t *lock, int64_t deadline, const void *pc) {
    struct ew_mutex *mutex = (struct ew_mutex *)lock;
    ew_point(EW_WHY_SYNC);
    uint32_t depth = mutex->depth;
    mutex->depth = 0;
    ew_mutex_unlock(mutex, pc);
    enum ew_woken woken = ew_wait(handle, deadline);
    if (UNLIKELY(ew_tracing))
        ew_trace(EW_OP_WAIT, woken == EW_TIMED_OUT ? EW_FLAG_FAILED : 0, handle, sizeof *handle,
                 pc);
    ew_mutex_lock(mutex, EW_NEVER, pc);
    mutex->depth = depth;
    return woken == EW_TIMED_OUT ? ETIMEDOUT : 0;
}

EW_EXPORT int pthread_cond_wait(pthread_cond_t *handle, pthread_mutex_t *lock) {
    return wait(handle, lock, EW_NEVER, PC);
}

EW_EXPORT int pthread_cond_clockwait(pthread_cond_t *handle, pthread_mutex_t *lock, clockid_t clock,
                                     const struct timespec *when) {
    return wait(handle, lock, ew_deadline(clock, when), PC);
}

EW_EXPORT int pthread_cond_timedwait(pthread_cond_t *handle, pthread_mutex_t *lock,
                                     const struct timespec *when) {
    clockid_t clock = ((struct ew_cond *)handle)->clock;
    return wait(handle, lock, ew_deadline(clock, when), PC);
}

EW_EXPORT int pthread_cond_signal(pthread_cond_t *handle) {
    ew_point(EW_WHY_SYNC);
    if (UNLIKELY(ew_tracing))
        ew_trace(EW_OP_WAKE, 0, handle, sizeof *handle, PC);
    ew_wake_one(handle);
    return 0;
}

EW_EXPORT int pthread_cond_broadcast(pthread_cond_t *handle) {
    ew_point(EW_WHY_SYNC);
    if (UNLIKELY(ew_tracing))
        ew_trace(EW_OP_WAKE, 0, handle, sizeof *handle, PC);
    ew_wake_all(handle);
    return 0;
}
