// SPDX-License-Identifier: Apache-2.0
// C11 threads: the same objects as POSIX threads under other names and results.
//
// libc's own versions call its own pthread functions past ours, so each is needed here, but for
// thrd_current and thrd_equal, which call nothing. call_once is in once.c.
#include "mutex.h"
#include "sync.h"

#include <errno.h>
#include <sched.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "another name for it");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "another name for it");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "another name for it");
_Static_assert(sizeof(tss_t) == sizeof(pthread_key_t), "another name for it");

static int result_of(int error) {
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

// --- threads

// An int comes back in the lower half of the register in which a pointer comes back.
typedef void *(*pthread_function)(void *);
typedef void (*any_function)(void);

EW_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
    return result_of(
        pthread_create(thread, NULL, (pthread_function)(any_function)function, argument));
}

EW_EXPORT int thrd_join(thrd_t thread, int *result) {
    void *value;
    int error = pthread_join(thread, &value);
    if (!error && result)
        *result = (int)(intptr_t)value;
    return result_of(error);
}

EW_EXPORT int thrd_detach(thrd_t thread) {
    return result_of(pthread_detach(thread));
}

EW_EXPORT _Noreturn void thrd_exit(int result) {
    pthread_exit((void *)(intptr_t)result);
}

EW_EXPORT void thrd_yield(void) {
    sched_yield();
}

// 0: slept; -1: a signal came; another negative number: an error.
EW_EXPORT int thrd_sleep(const struct timespec *duration, struct timespec *left) {
    int error = clock_nanosleep(CLOCK_REALTIME, 0, duration, left);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

// --- mutexes

// Every mutex may be taken with a time limit, as in glibc.
EW_EXPORT int mtx_init(mtx_t *mutex, int type) {
    bool recursive = (type & ~mtx_timed) == mtx_recursive;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes,
                              recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    return result_of(pthread_mutex_init((pthread_mutex_t *)mutex, &attributes));
}

EW_EXPORT void mtx_destroy(mtx_t *mutex) {
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

EW_EXPORT int mtx_lock(mtx_t *mutex) {
    return result_of(ew_mutex_lock((struct ew_mutex *)mutex, EW_NEVER, PC));
}

EW_EXPORT int mtx_trylock(mtx_t *mutex) {
    return result_of(ew_mutex_trylock((struct ew_mutex *)mutex, PC));
}

EW_EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict when) {
    return result_of(
        ew_mutex_lock((struct ew_mutex *)mutex, ew_mutex_deadline(CLOCK_REALTIME, when), PC));
}

EW_EXPORT int mtx_unlock(mtx_t *mutex) {
    return result_of(ew_mutex_unlock((struct ew_mutex *)mutex, PC));
}

// --- condition variables

EW_EXPORT int cnd_init(cnd_t *condition) {
    return result_of(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

EW_EXPORT void cnd_destroy(cnd_t *condition) {
    pthread_cond_destroy((pthread_cond_t *)condition);
}

EW_EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    return result_of(
        ew_cond_wait((pthread_cond_t *)condition, (struct ew_mutex *)mutex, EW_NEVER, PC));
}

EW_EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                            const struct timespec *restrict when) {
    if (!ew_is_time(when))
        return thrd_error;
    pthread_cond_t *handle = (pthread_cond_t *)condition;
    return result_of(
        ew_cond_wait(handle, (struct ew_mutex *)mutex, ew_cond_deadline(handle, when), PC));
}

EW_EXPORT int cnd_signal(cnd_t *condition) {
    return result_of(ew_cond_wake((pthread_cond_t *)condition, false, PC));
}

EW_EXPORT int cnd_broadcast(cnd_t *condition) {
    return result_of(ew_cond_wake((pthread_cond_t *)condition, true, PC));
}

// --- thread-specific storage

EW_EXPORT int tss_create(tss_t *key, tss_dtor_t destructor) {
    return result_of(pthread_key_create(key, destructor));
}

EW_EXPORT void tss_delete(tss_t key) {
    pthread_key_delete(key);
}

EW_EXPORT void *tss_get(tss_t key) {
    return pthread_getspecific(key);
}

EW_EXPORT int tss_set(tss_t key, void *value) {
    return result_of(pthread_setspecific(key, value));
}
