// SPDX-License-Identifier: Apache-2.0
// pthread_cond_*: waiters are those who wait for the address; which one a signal wakes is a choice.
#include "mutex.h"
#include "sync.h"

#include <errno.h>
#include <string.h>

// Lives in the memory of a pthread_cond_t; all zero is PTHREAD_COND_INITIALIZER.
struct ew_cond {
    clockid_t clock;
    uint32_t inside; // threads that may still look at this memory
};
_Static_assert(sizeof(struct ew_cond) <= sizeof(pthread_cond_t), "does not fit");

int64_t ew_cond_deadline(const pthread_cond_t *handle, const struct timespec *when) {
    return ew_deadline(((const struct ew_cond *)handle)->clock, when);
}

// The mutex is given back once: one that was taken recursively stays taken, as POSIX warns.
int ew_cond_wait(pthread_cond_t *handle, struct ew_mutex *mutex, int64_t deadline, const void *pc) {
    struct ew_cond *condition = (struct ew_cond *)handle;
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    int error = ew_mutex_give(mutex, pc);
    if (error)
        return error;
    condition->inside++;
    enum ew_woken woken = ew_wait_cancellable(handle, deadline);
    if (--condition->inside == 0)
        ew_wake_all(&condition->inside);
    if (UNLIKELY(ew_tracing))
        ew_trace(EW_OP_WAIT, woken == EW_TIMED_OUT ? EW_FLAG_FAILED : 0, handle, sizeof *handle,
                 pc);
    error = ew_mutex_take(mutex, EW_NEVER, pc);
    ew_testcancel(); // with the mutex taken, as POSIX wants it
    return error ? error : woken == EW_TIMED_OUT ? ETIMEDOUT : 0;
}

int ew_cond_wake(pthread_cond_t *handle, bool all, const void *pc) {
    ew_point(EW_WHY_SYNC);
    if (UNLIKELY(ew_tracing))
        ew_trace(EW_OP_WAKE, 0, handle, sizeof *handle, pc);
    if (all)
        ew_wake_all(handle);
    else
        ew_wake_one(handle);
    return 0;
}

// --- the functions of the C library

EW_EXPORT int pthread_cond_init(pthread_cond_t *handle, const pthread_condattr_t *attributes) {
    clockid_t clock = CLOCK_REALTIME;
    int sharing = PTHREAD_PROCESS_PRIVATE;
    if (attributes) {
        pthread_condattr_getclock(attributes, &clock);
        pthread_condattr_getpshared(attributes, &sharing);
    }
    ew_say_if_shared("pthread_cond_init", sharing);
    memset(handle, 0, sizeof *handle);
    ((struct ew_cond *)handle)->clock = clock;
    return 0;
}

// It may be destroyed as soon as all are woken, though they have not gone yet. Destroying it under
// somebody who was not woken waits for ever, as in glibc.
EW_EXPORT int pthread_cond_destroy(pthread_cond_t *handle) {
    struct ew_cond *condition = (struct ew_cond *)handle;
    ew_point(EW_WHY_SYNC);
    while (condition->inside)
        ew_wait(&condition->inside, EW_NEVER);
    return 0;
}

EW_EXPORT int pthread_cond_wait(pthread_cond_t *handle, pthread_mutex_t *lock) {
    return ew_cond_wait(handle, (struct ew_mutex *)lock, EW_NEVER, PC);
}

EW_EXPORT int pthread_cond_clockwait(pthread_cond_t *handle, pthread_mutex_t *lock, clockid_t clock,
                                     const struct timespec *when) {
    if (!ew_is_wait_clock(clock) || !ew_is_time(when))
        return EINVAL;
    return ew_cond_wait(handle, (struct ew_mutex *)lock, ew_deadline(clock, when), PC);
}

EW_EXPORT int pthread_cond_timedwait(pthread_cond_t *handle, pthread_mutex_t *lock,
                                     const struct timespec *when) {
    if (!ew_is_time(when))
        return EINVAL;
    return ew_cond_wait(handle, (struct ew_mutex *)lock, ew_cond_deadline(handle, when), PC);
}

EW_EXPORT int pthread_cond_signal(pthread_cond_t *handle) {
    return ew_cond_wake(handle, false, PC);
}

EW_EXPORT int pthread_cond_broadcast(pthread_cond_t *handle) {
    return ew_cond_wake(handle, true, PC);
}
