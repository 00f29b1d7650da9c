// SPDX-License-Identifier: Apache-2.0
// pthread_cond_*: waiters are those who wait for the address; which one a signal wakes is a choice.
#include "mutex.h"
#include "races.h"
#include "sync.h"
#include "threads.h"

#include <errno.h>
#include <string.h>

// Lives in the memory of a pthread_cond_t; all zero is PTHREAD_COND_INITIALIZER.
struct ew_cond {
    clockid_t clock;
    uint32_t inside;              // threads that may still look at this memory
    uint32_t shared;              // other processes have it too
    uint32_t wakes;               // then: how many there were, to be seen over there
    const struct ew_mutex *mutex; // with which the last one waits; all must have the same
};
_Static_assert(sizeof(struct ew_cond) <= sizeof(pthread_cond_t), "does not fit");

int64_t ew_cond_deadline(const pthread_cond_t *handle, const struct timespec *when) {
    return ew_deadline(((const struct ew_cond *)handle)->clock, when);
}

struct shared_wait {
    const struct ew_cond *condition;
    uint32_t wakes; // before it began
};

static bool is_woken(void *argument) {
    const struct shared_wait *wait = argument;
    return __atomic_load_n(&wait->condition->wakes, __ATOMIC_ACQUIRE) != wait->wakes;
}

// Over a process's border nobody can be chosen: each wake ends all waits, as POSIX allows.
static enum ew_woken wait_shared(struct shared_wait *wait, int64_t deadline) {
    enum ew_woken woken = EW_WOKEN;
    while (!ew_try_elsewhere(is_woken, wait) && woken == EW_WOKEN && !ew_cancel_is_due(ew_self))
        woken = ew_wait_elsewhere(deadline);
    return woken;
}

static void end_wait(void *argument) {
    struct ew_cond *condition = argument;
    ew_wants(0, 0, NULL, 0, NULL);
    if (--condition->inside == 0)
        ew_wake_all(&condition->inside);
}

static enum ew_woken wait_private(struct ew_cond *condition, int64_t deadline, const void *pc) {
    condition->inside++;
    ew_wants(EW_OP_WAIT, 0, condition, sizeof(pthread_cond_t), pc);
    EW_AFTERWARDS(end_wait, condition);
    return ew_wait_cancellable(condition, deadline);
}

// Whoever waits at the same time has to do so with the same mutex.
static void bind(struct ew_cond *condition, const struct ew_mutex *mutex, const void *pc) {
    if (UNLIKELY(ew_detecting) && condition->mutex != mutex && ew_waiters(condition))
        ew_misused(EW_OP_WAIT, condition, pc);
    condition->mutex = mutex;
}

// The mutex is given back once: one that was taken recursively stays taken, as POSIX warns.
int ew_cond_wait(pthread_cond_t *handle, struct ew_mutex *mutex, int64_t deadline, const void *pc) {
    struct ew_cond *condition = (struct ew_cond *)handle;
    ew_testcancel();
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, handle, sizeof(pthread_cond_t));
    ew_tell_used(handle, pc);
    uint32_t wakes = __atomic_load_n(&condition->wakes, __ATOMIC_ACQUIRE);
    int error = ew_mutex_give(mutex, pc);
    if (error)
        return error;
    bind(condition, mutex, pc);
    struct shared_wait shared = {condition, wakes};
    enum ew_woken woken =
        condition->shared ? wait_shared(&shared, deadline) : wait_private(condition, deadline, pc);
    bool was_signalled = !condition->shared && ew_self->woken;
    unsigned gives_up = deadline == EW_NEVER ? 0 : EW_FLAG_TRY;
    if (UNLIKELY(ew_watched))
        ew_tell(EW_OP_WAIT, gives_up | (woken == EW_TIMED_OUT ? EW_FLAG_FAILED : 0), handle,
                sizeof *handle, pc);
    error = ew_mutex_take(mutex, EW_NEVER, pc);
    // With the mutex taken, as POSIX wants it; and who is cancelled must not have used up a signal.
    if (!was_signalled)
        ew_testcancel();
    return error ? error : woken == EW_TIMED_OUT ? ETIMEDOUT : 0;
}

int ew_cond_wake(pthread_cond_t *handle, bool all, const void *pc) {
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, handle, sizeof(pthread_cond_t));
    if (UNLIKELY(ew_watched))
        ew_tell(EW_OP_WAKE, 0, handle, sizeof *handle, pc);
    struct ew_cond *condition = (struct ew_cond *)handle;
    if (condition->shared)
        __atomic_fetch_add(&condition->wakes, 1, __ATOMIC_RELEASE);
    else if (all)
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
    *(struct ew_cond *)handle =
        (struct ew_cond){.clock = clock, .shared = sharing == PTHREAD_PROCESS_SHARED};
    return 0;
}

// It may be destroyed as soon as all are woken, though they have not gone yet. Destroying it under
// somebody who was not woken waits for ever, as in glibc.
EW_EXPORT int pthread_cond_destroy(pthread_cond_t *handle) {
    struct ew_cond *condition = (struct ew_cond *)handle;
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, handle, sizeof(pthread_cond_t));
    while (condition->inside)
        ew_wait(&condition->inside, EW_NEVER);
    ew_tell_destroyed(handle, sizeof *handle, PC);
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
