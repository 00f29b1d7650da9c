// SPDX-License-Identifier: Apache-2.0
// sem_*: a number that never falls below zero.
#include "libc.h"
#include "sync.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/types.h>

// Lives in the memory of a sem_t, laid out as glibc has it: sem_open is glibc's, and the process on
// the other side may be any.
struct semaphore {
    uint32_t value;
    uint32_t waiting;
    uint32_t sharing; // EW_SHARED: other processes have it too
};
_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "does not fit");

static bool subtract(void *argument) {
    struct semaphore *semaphore = argument;
    uint32_t value = __atomic_load_n(&semaphore->value, __ATOMIC_ACQUIRE);
    do
        if (!value)
            return false;
    while (!__atomic_compare_exchange_n(&semaphore->value, &value, value - 1, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return true;
}

static bool take(struct semaphore *semaphore, const void *pc) {
    if (!(semaphore->sharing ? ew_try_elsewhere(subtract, semaphore) : subtract(semaphore)))
        return false;
    if (UNLIKELY(ew_watched))
        ew_tell(EW_OP_WAIT, EW_FLAG_WILDCARD, semaphore, sizeof(sem_t), pc);
    return true;
}

static void end_wait(void *semaphore) {
    ew_self->life.handler_helps = false;
    ew_wants(0, 0, NULL, 0, NULL);
    __atomic_fetch_sub(&((struct semaphore *)semaphore)->waiting, 1, __ATOMIC_SEQ_CST);
}

static enum ew_woken wait_once(struct semaphore *semaphore, int64_t deadline, const void *pc) {
    __atomic_fetch_add(&semaphore->waiting, 1, __ATOMIC_SEQ_CST);
    ew_wants(EW_OP_WAIT, EW_FLAG_WILDCARD, semaphore, sizeof(sem_t), pc);
    ew_self->life.handler_helps = true;
    EW_AFTERWARDS(end_wait, semaphore);
    return semaphore->sharing ? ew_wait_elsewhere(deadline)
                              : ew_wait_cancellable(semaphore, deadline);
}

static int not_taken(struct semaphore *semaphore, unsigned flags, int error, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(EW_OP_WAIT, EW_FLAG_FAILED | flags, semaphore, sizeof(sem_t), pc);
    return (int)ew_result(-error);
}

static int wait(struct semaphore *semaphore, int64_t deadline, const void *pc) {
    ew_testcancel();
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, semaphore, sizeof(sem_t));
    ew_tell_used(semaphore, pc);
    ew_self->life.interrupted = EW_UNDISTURBED;
    for (enum ew_woken woken = EW_WOKEN; !take(semaphore, pc);) {
        if (ew_interrupted(deadline != EW_NEVER))
            return not_taken(semaphore, 0, EINTR, pc);
        if (woken == EW_TIMED_OUT)
            return not_taken(semaphore, 0, ETIMEDOUT, pc);
        woken = wait_once(semaphore, deadline, pc);
        ew_testcancel();
    }
    return 0;
}

EW_EXPORT int sem_init(sem_t *handle, int shared, unsigned value) {
    if (value > SEM_VALUE_MAX)
        return (int)ew_result(-EINVAL);
    ew_say_if_shared("sem_init", shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    *(struct semaphore *)handle =
        (struct semaphore){.value = value, .sharing = shared ? EW_SHARED : 0};
    return 0;
}

EW_EXPORT int sem_destroy(sem_t *handle) {
    ew_tell_destroyed(handle, sizeof *handle, PC);
    return 0;
}

EW_EXPORT int sem_wait(sem_t *handle) {
    return wait((struct semaphore *)handle, EW_NEVER, PC);
}

EW_EXPORT int sem_clockwait(sem_t *handle, clockid_t clock, const struct timespec *when) {
    if (!ew_is_wait_clock(clock) || !ew_is_time(when))
        return (int)ew_result(-EINVAL);
    return wait((struct semaphore *)handle, ew_deadline(clock, when), PC);
}

EW_EXPORT int sem_timedwait(sem_t *handle, const struct timespec *when) {
    if (!ew_is_time(when))
        return (int)ew_result(-EINVAL);
    return wait((struct semaphore *)handle, ew_deadline(CLOCK_REALTIME, when), PC);
}

EW_EXPORT int sem_trywait(sem_t *handle) {
    struct semaphore *semaphore = (struct semaphore *)handle;
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, handle, sizeof(sem_t));
    ew_tell_used(handle, PC);
    return take(semaphore, PC) ? 0 : not_taken(semaphore, EW_FLAG_TRY, EAGAIN, PC);
}

static bool add(struct semaphore *semaphore) {
    uint32_t value = __atomic_load_n(&semaphore->value, __ATOMIC_RELAXED);
    do
        if (value == SEM_VALUE_MAX)
            return false;
    while (!__atomic_compare_exchange_n(&semaphore->value, &value, value + 1, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    return true;
}

EW_EXPORT int sem_post(sem_t *handle) {
    struct semaphore *semaphore = (struct semaphore *)handle;
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, handle, sizeof(sem_t));
    if (!add(semaphore))
        return (int)ew_result(-EOVERFLOW);
    if (UNLIKELY(ew_watched))
        ew_tell(EW_OP_WAKE, EW_FLAG_CUMULATIVE, semaphore, sizeof *handle, PC);
    if (semaphore->waiting)
        ew_wake_all(semaphore); // one of them, or somebody who comes now, takes it
    if (semaphore->sharing)
        raw3(SYS_futex, (long)&semaphore->value, FUTEX_WAKE, 1);
    return 0;
}

EW_EXPORT int sem_getvalue(sem_t *restrict handle, int *restrict value) {
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, handle, sizeof(sem_t));
    *value = (int)((struct semaphore *)handle)->value;
    ew_touch(EW_OP_STORE, value, sizeof *value, PC);
    return 0;
}

// --- named semaphores: glibc finds and maps the file

EW_EXPORT sem_t *sem_open(const char *name, int flags, ...) {
    sem_t *(*libc_open)(const char *, int, ...) =
        (sem_t * (*)(const char *, int, ...)) dlsym(RTLD_NEXT, "sem_open");
    if (!libc_open)
        ew_cannot("libc has no sem_open");
    ew_say_if_shared("sem_open", PTHREAD_PROCESS_SHARED);
    va_list rest;
    va_start(rest, flags); // without O_CREAT there is no third or fourth, and nobody looks at them
    unsigned mode = va_arg(rest, unsigned), value = va_arg(rest, unsigned);
    va_end(rest);
    return libc_open(name, flags, mode, value);
}
