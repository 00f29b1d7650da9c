// SPDX-License-Identifier: Apache-2.0
// pthread_mutex_*: on one carrier a mutex is a field that says whose it is.
//
// Priority protocols are kept and change nothing: here no thread has to wait for a processor.
#include "mutex.h"
#include "at_work.h"
#include "objects.h"
#include "shadow.h"
#include "sync.h"
#include "threads.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { ROBUST = 16, INHERIT = 32, PROTECT = 64 }; // glibc's bits, beside the type and EW_SHARED
#define TYPE(mutex) ((mutex)->kind & 3)

enum { SOUND, OWNER_DIED, NOT_RECOVERABLE }; // robust_state

// As glibc leaves it; what overwrites the memory makes a mutex of it again.
#define DESTROYED (-1)

static bool is_destroyed(const struct ew_mutex *mutex) {
    return UNLIKELY(mutex->kind == DESTROYED);
}

// Of a mutex that other processes have too, the owner is known by the number of its process too; of
// a robust one as well, for a forked child does not own what its parent does.
bool ew_mutexes_name_processes;

static EW_COLD uint64_t name_process(void) {
    ew_mutexes_name_processes = true;
    return (uint64_t)raw1(SYS_getpid, 0) << 32;
}

static uint64_t my_name(const struct ew_mutex *mutex) {
    bool of_process = UNLIKELY(mutex->kind & (EW_SHARED | ROBUST));
    return (of_process ? name_process() : 0) | (ew_self->id + 1);
}

static bool is_mine(const struct ew_mutex *mutex) {
    return mutex->owner == my_name(mutex);
}

static bool is_robust(const struct ew_mutex *mutex) {
    return mutex->kind & ROBUST;
}

static void tell(unsigned op, unsigned flags, const struct ew_mutex *mutex, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(op, flags, mutex, sizeof(pthread_mutex_t), pc);
}

static void tell_misused(unsigned op, unsigned flags, const struct ew_mutex *mutex,
                         const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell_misused(op, flags, mutex, sizeof(pthread_mutex_t), pc);
}

static EW_COLD int use_destroyed(unsigned op, const struct ew_mutex *mutex, const void *pc) {
    tell_misused(op, EW_FLAG_FAILED, mutex, pc);
    return EINVAL;
}

// --- robust mutexes: who takes one after its owner has ended learns of it

static void robust_add(struct ew_mutex *mutex) {
    mutex->previous = NULL;
    mutex->next = ew_self->robust;
    if (mutex->next)
        mutex->next->previous = mutex;
    ew_self->robust = mutex;
}

static void robust_drop(struct ew_mutex *mutex) {
    if (mutex->previous)
        mutex->previous->next = mutex->next;
    else
        ew_self->robust = mutex->next;
    if (mutex->next)
        mutex->next->previous = mutex->previous;
}

void ew_mutexes_forked(void) { // they are the parent's
    ew_self->robust = NULL;
}

void ew_mutexes_of_ending(void) {
    while (ew_self->robust) {
        struct ew_mutex *mutex = ew_self->robust;
        robust_drop(mutex);
        tell(EW_OP_RELEASE, 0, mutex, (char *)ew_self->function + 1);
        mutex->owner = 0;
        mutex->depth = 0;
        mutex->robust_state = OWNER_DIED;
        ew_wake_all(mutex);
    }
}

// --- taking and giving back

// Relocking by the owner: 0 taken once more, an error, or -1: it is to wait like everybody.
static int take_again(struct ew_mutex *mutex) {
    if (TYPE(mutex) == PTHREAD_MUTEX_ERRORCHECK)
        return EDEADLK;
    if (TYPE(mutex) != PTHREAD_MUTEX_RECURSIVE)
        return -1;
    if (mutex->depth == UINT32_MAX)
        return EAGAIN;
    mutex->depth++;
    return 0;
}

// Nothing in this process comes between the look and the store, but another process may. `from` is
// who has it, or nobody; afterwards who did.
static bool claim_from(struct ew_mutex *mutex, uint64_t *from) {
    return __atomic_compare_exchange_n(&mutex->owner, from, my_name(mutex), false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static bool claim_shared(void *argument) {
    struct ew_mutex *mutex = argument;
    uint64_t owner = 0;
    if (claim_from(mutex, &owner))
        return true;
    if (!is_robust(mutex) || !ew_has_ended((pid_t)(owner >> 32)) || !claim_from(mutex, &owner))
        return false;
    mutex->depth = 0;
    mutex->robust_state = OWNER_DIED;
    return true;
}

static bool claim(struct ew_mutex *mutex) {
    if (UNLIKELY(mutex->kind & EW_SHARED))
        return ew_try_elsewhere(claim_shared, mutex);
    if (mutex->owner)
        return false;
    mutex->owner = my_name(mutex);
    return true;
}

static void let_go(struct ew_mutex *mutex) {
    __atomic_store_n(&mutex->owner, 0, __ATOMIC_RELEASE);
    if (mutex->waiting)
        ew_wake_one(mutex); // somebody who comes first may still take it, and wakes the next
}

static int claimed(struct ew_mutex *mutex, unsigned flags, const void *pc) {
    if (mutex->robust_state == NOT_RECOVERABLE) {
        let_go(mutex);
        return ENOTRECOVERABLE;
    }
    if (is_robust(mutex))
        robust_add(mutex);
    tell(EW_OP_ACQUIRE, flags, mutex, pc);
    return mutex->robust_state == OWNER_DIED ? EOWNERDEAD : 0;
}

static enum ew_woken wait(struct ew_mutex *mutex, int64_t deadline, const void *pc) {
    if (UNLIKELY(mutex->kind & EW_SHARED))
        return ew_wait_elsewhere(deadline);
    mutex->waiting++;
    ew_wants(EW_OP_ACQUIRE, 0, mutex, sizeof(pthread_mutex_t), pc);
    enum ew_woken woken = ew_wait(mutex, deadline);
    ew_wants(0, 0, NULL, 0, NULL);
    mutex->waiting--;
    return woken;
}

int ew_mutex_take(struct ew_mutex *mutex, int64_t deadline, const void *pc) {
    if (is_destroyed(mutex))
        return use_destroyed(EW_OP_ACQUIRE, mutex, pc);
    if (is_mine(mutex)) {
        int result = take_again(mutex);
        if (result >= 0)
            return result;
    }
    for (enum ew_woken woken = EW_WOKEN; !claim(mutex); woken = wait(mutex, deadline, pc)) {
        if (deadline == EW_NOT_A_TIME)
            return EINVAL;
        if (woken == EW_TIMED_OUT) {
            tell(EW_OP_ACQUIRE, EW_FLAG_FAILED, mutex, pc);
            return ETIMEDOUT;
        }
    }
    return claimed(mutex, 0, pc);
}

// An owner who did not repair what a dead one left makes the mutex useless for ever.
static void robust_give(struct ew_mutex *mutex) {
    robust_drop(mutex);
    if (mutex->robust_state == OWNER_DIED)
        mutex->robust_state = NOT_RECOVERABLE;
}

// A plain mutex may be given back by anyone: that is a mistake, but one that glibc lets pass.
static bool checks_owner(const struct ew_mutex *mutex) {
    return TYPE(mutex) == PTHREAD_MUTEX_RECURSIVE || TYPE(mutex) == PTHREAD_MUTEX_ERRORCHECK ||
           is_robust(mutex);
}

// Whoever asked for errors wants to be told of them by the return value alone.
static EW_COLD int give_anothers(struct ew_mutex *mutex, const void *pc) {
    if (TYPE(mutex) == PTHREAD_MUTEX_ERRORCHECK)
        return EPERM;
    if (checks_owner(mutex)) {
        tell_misused(EW_OP_RELEASE, EW_FLAG_FAILED, mutex, pc);
        return EPERM;
    }
    tell_misused(EW_OP_RELEASE, 0, mutex, pc);
    let_go(mutex);
    return 0;
}

int ew_mutex_give(struct ew_mutex *mutex, const void *pc) {
    if (is_destroyed(mutex))
        return use_destroyed(EW_OP_RELEASE, mutex, pc);
    if (UNLIKELY(!is_mine(mutex)))
        return give_anothers(mutex, pc);
    if (mutex->depth) {
        mutex->depth--;
        return 0;
    }
    if (is_robust(mutex))
        robust_give(mutex);
    tell(EW_OP_RELEASE, 0, mutex, pc);
    let_go(mutex);
    return 0;
}

// What is needed behind the decision, which takes about as long as memory does.
static void expect(const struct ew_mutex *mutex) {
    __builtin_prefetch(mutex, 1);
    if (ew_detecting) {
        __builtin_prefetch(ew_cell_at((uintptr_t)mutex), 1);
        ew_object_expect(mutex);
    }
}

int ew_mutex_lock(struct ew_mutex *mutex, int64_t deadline, const void *pc) {
    if (UNLIKELY(!ew_running))
        return 0; // one thread, and it is still starting
    expect(mutex);
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, mutex, sizeof(pthread_mutex_t));
    return ew_mutex_take(mutex, deadline, pc);
}

int ew_mutex_trylock(struct ew_mutex *mutex, const void *pc) {
    if (UNLIKELY(!ew_running))
        return 0;
    expect(mutex);
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, mutex, sizeof(pthread_mutex_t));
    if (is_destroyed(mutex))
        return use_destroyed(EW_OP_ACQUIRE, mutex, pc);
    if (claim(mutex))
        return claimed(mutex, EW_FLAG_TRY, pc);
    if (is_mine(mutex) && TYPE(mutex) == PTHREAD_MUTEX_RECURSIVE)
        return take_again(mutex);
    tell(EW_OP_ACQUIRE, EW_FLAG_TRY | EW_FLAG_FAILED, mutex, pc);
    return EBUSY;
}

int ew_mutex_unlock(struct ew_mutex *mutex, const void *pc) {
    if (UNLIKELY(!ew_running))
        return 0;
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, mutex, sizeof(pthread_mutex_t));
    return ew_mutex_give(mutex, pc);
}

int64_t ew_mutex_deadline(clockid_t clock, const struct timespec *when) {
    return ew_is_time(when) ? ew_deadline(clock, when) : EW_NOT_A_TIME;
}

// --- the functions of the C library

static int kind_of(const pthread_mutexattr_t *attributes, struct ew_mutex *result) {
    int type, robust, protocol, sharing, ceiling = 0;
    pthread_mutexattr_gettype(attributes, &type);
    pthread_mutexattr_getrobust(attributes, &robust);
    pthread_mutexattr_getprotocol(attributes, &protocol);
    pthread_mutexattr_getpshared(attributes, &sharing);
    if (protocol == PTHREAD_PRIO_PROTECT && robust)
        return ENOTSUP; // as in glibc
    if (protocol == PTHREAD_PRIO_PROTECT)
        pthread_mutexattr_getprioceiling(attributes, &ceiling);
    ew_say_if_shared("pthread_mutex_init", sharing);
    result->kind = type | (robust ? ROBUST : 0) | (protocol == PTHREAD_PRIO_INHERIT ? INHERIT : 0) |
                   (protocol == PTHREAD_PRIO_PROTECT ? PROTECT : 0) |
                   (sharing == PTHREAD_PROCESS_SHARED ? EW_SHARED : 0);
    result->ceiling = (uint16_t)ceiling;
    return 0;
}

EW_EXPORT int pthread_mutex_init(pthread_mutex_t *handle, const pthread_mutexattr_t *attributes) {
    struct ew_mutex mutex = {0};
    int error = attributes ? kind_of(attributes, &mutex) : 0;
    if (error)
        return error;
    memcpy(handle, &mutex, sizeof mutex);
    if (UNLIKELY(ew_watched))
        ew_tell_order(EW_OP_INIT, 0, handle, sizeof *handle, PC);
    return 0;
}

EW_EXPORT int pthread_mutex_destroy(pthread_mutex_t *handle) {
    struct ew_mutex *mutex = (struct ew_mutex *)handle;
    if (is_destroyed(mutex))
        return use_destroyed(EW_OP_DESTROY, mutex, PC);
    if (mutex->owner)
        tell_misused(EW_OP_DESTROY, EW_FLAG_FAILED, mutex, PC);
    else
        tell(EW_OP_DESTROY, 0, mutex, PC);
    if (!is_robust(mutex) && mutex->owner)
        return EBUSY;
    if (is_robust(mutex) && is_mine(mutex))
        robust_drop(mutex); // its memory may be gone when this thread ends
    ew_tell_destroyed(handle, sizeof *handle, PC);
    mutex->kind = DESTROYED;
    return 0;
}

EW_EXPORT int pthread_mutex_lock(pthread_mutex_t *handle) {
    return ew_mutex_lock((struct ew_mutex *)handle, EW_NEVER, PC);
}

EW_EXPORT int pthread_mutex_trylock(pthread_mutex_t *handle) {
    return ew_mutex_trylock((struct ew_mutex *)handle, PC);
}

EW_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *handle, clockid_t clock,
                                      const struct timespec *when) {
    if (!ew_is_wait_clock(clock))
        return EINVAL;
    return ew_mutex_lock((struct ew_mutex *)handle, ew_mutex_deadline(clock, when), PC);
}

EW_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *handle, const struct timespec *when) {
    return ew_mutex_lock((struct ew_mutex *)handle, ew_mutex_deadline(CLOCK_REALTIME, when), PC);
}

EW_EXPORT int pthread_mutex_unlock(pthread_mutex_t *handle) {
    return ew_mutex_unlock((struct ew_mutex *)handle, PC);
}

EW_EXPORT int pthread_mutex_consistent(pthread_mutex_t *handle) {
    struct ew_mutex *mutex = (struct ew_mutex *)handle;
    if (!is_robust(mutex) || !is_mine(mutex) || mutex->robust_state != OWNER_DIED)
        return EINVAL;
    mutex->robust_state = SOUND;
    return 0;
}

EW_EXPORT int pthread_mutex_getprioceiling(const pthread_mutex_t *handle, int *ceiling) {
    const struct ew_mutex *mutex = (const struct ew_mutex *)handle;
    if (!(mutex->kind & PROTECT))
        return EINVAL;
    *ceiling = mutex->ceiling;
    return 0;
}

EW_EXPORT int pthread_mutex_setprioceiling(pthread_mutex_t *handle, int ceiling, int *old) {
    struct ew_mutex *mutex = (struct ew_mutex *)handle;
    if (!(mutex->kind & PROTECT) || ceiling < sched_get_priority_min(SCHED_FIFO) ||
        ceiling > sched_get_priority_max(SCHED_FIFO))
        return EINVAL;
    bool mine = ew_running && is_mine(mutex);
    int error = mine ? 0 : ew_mutex_lock(mutex, EW_NEVER, PC);
    if (error)
        return error;
    *old = mutex->ceiling;
    mutex->ceiling = (uint16_t)ceiling;
    return mine ? 0 : ew_mutex_unlock(mutex, PC);
}

EW_ALIAS(__pthread_mutex_init, pthread_mutex_init);
EW_ALIAS(__pthread_mutex_destroy, pthread_mutex_destroy);
EW_ALIAS(__pthread_mutex_lock, pthread_mutex_lock);
EW_ALIAS(__pthread_mutex_trylock, pthread_mutex_trylock);
EW_ALIAS(__pthread_mutex_unlock, pthread_mutex_unlock);
EW_ALIAS(pthread_mutex_consistent_np, pthread_mutex_consistent);
