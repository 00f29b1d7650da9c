// SPDX-License-Identifier: Apache-2.0
// pthread_mutex_*: on one carrier a mutex is a field that says whose it is.
#include "mutex.h"

#include <errno.h>
#include <string.h>

#define TYPE(mutex) ((mutex)->kind & 3)
#define PC __builtin_return_address(0)

static bool is_mine(const struct ew_mutex *mutex) {
    return mutex->owner == ew_self->id + 1;
}

// Relocking by the owner: 0 taken once more, an error, or -1: it is to wait like everybody.
static int lock_again(struct ew_mutex *mutex) {
    if (TYPE(mutex) == PTHREAD_MUTEX_ERRORCHECK)
        return EDEADLK;
    if (TYPE(mutex) != PTHREAD_MUTEX_RECURSIVE)
        return -1;
    if (mutex->depth == UINT32_MAX)
        return EAGAIN;
    mutex->depth++;
    return 0;
}

int ew_mutex_lock(struct ew_mutex *mutex, int64_t deadline, const void *pc) {
    if (is_mine(mutex)) {
        int result = lock_again(mutex);
        if (result >= 0)
            return result;
    }
    while (mutex->owner) {
        mutex->waiting++;
        enum ew_woken woken = ew_wait(mutex, deadline);
        mutex->waiting--;
        if (woken == EW_TIMED_OUT && mutex->owner)
            return ETIMEDOUT;
    }
    mutex->owner = ew_self->id + 1;
    if (UNLIKELY(ew_tracing))
        ew_trace(EW_OP_ACQUIRE, 0, mutex, sizeof(pthread_mutex_t), pc);
    return 0;
}

void ew_mutex_unlock(struct ew_mutex *mutex, const void *pc) {
    if (UNLIKELY(ew_tracing))
        ew_trace(EW_OP_RELEASE, 0, mutex, sizeof(pthread_mutex_t), pc);
    mutex->owner = 0;
    if (mutex->waiting)
        ew_wake_all(mutex); // the scheduler decides who is first; the others wait again
}

EW_EXPORT int pthread_mutex_init(pthread_mutex_t *handle, const pthread_mutexattr_t *attributes) {
    int kind = PTHREAD_MUTEX_DEFAULT;
    if (attributes)
        pthread_mutexattr_gettype(attributes, &kind);
    memset(handle, 0, sizeof *handle);
    ((struct ew_mutex *)handle)->kind = kind;
    return 0;
}

EW_EXPORT int pthread_mutex_destroy(pthread_mutex_t *handle) {
    return ((struct ew_mutex *)handle)->owner ? EBUSY : 0;
}

EW_EXPORT int pthread_mutex_lock(pthread_mutex_t *handle) {
    if (UNLIKELY(!ew_running))
        return 0; // one thread, and it is still starting
    ew_point(EW_WHY_SYNC);
    return ew_mutex_lock((struct ew_mutex *)handle, EW_NEVER, PC);
}

EW_EXPORT int pthread_mutex_trylock(pthread_mutex_t *handle) {
    struct ew_mutex *mutex = (struct ew_mutex *)handle;
    if (UNLIKELY(!ew_running))
        return 0;
    ew_point(EW_WHY_SYNC);
    if (!mutex->owner)
        return ew_mutex_lock(mutex, EW_NEVER, PC);
    return is_mine(mutex) && TYPE(mutex) == PTHREAD_MUTEX_RECURSIVE ? lock_again(mutex) : EBUSY;
}

EW_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *handle, clockid_t clock,
                                      const struct timespec *when) {
    ew_point(EW_WHY_SYNC);
    return ew_mutex_lock((struct ew_mutex *)handle, ew_deadline(clock, when), PC);
}

EW_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *handle, const struct timespec *when) {
    ew_point(EW_WHY_SYNC);
    return ew_mutex_lock((struct ew_mutex *)handle, ew_deadline(CLOCK_REALTIME, when), PC);
}

EW_EXPORT int pthread_mutex_unlock(pthread_mutex_t *handle) {
    struct ew_mutex *mutex = (struct ew_mutex *)handle;
    if (UNLIKELY(!ew_running))
        return 0;
    ew_point(EW_WHY_SYNC);
    if (!is_mine(mutex) &&
        (TYPE(mutex) == PTHREAD_MUTEX_RECURSIVE || TYPE(mutex) == PTHREAD_MUTEX_ERRORCHECK))
        return EPERM;
    if (mutex->depth) {
        mutex->depth--;
        return 0;
    }
    ew_mutex_unlock(mutex, PC);
    return 0;
}
