// SPDX-License-Identifier: Apache-2.0
// pthread_rwlock_*: many readers or one writer.
#include "sync.h"
#include "threads.h"

#include <errno.h>
#include <string.h>

// Lives in the memory of a pthread_rwlock_t; all zero is PTHREAD_RWLOCK_INITIALIZER. `kind` stands
// where PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP puts it.
struct rwlock {
    uint32_t readers; // how many times it is held for reading
    uint32_t writer;  // thread number + 1; 0 is nobody
    uint32_t waiting, waiting_writers;
    uint32_t shared; // other processes have it too: then all is in `readers`, but for who writes
    uint32_t reserved[7];
    uint32_t kind;
};
_Static_assert(sizeof(struct rwlock) <= sizeof(pthread_rwlock_t), "does not fit");
_Static_assert(offsetof(struct rwlock, kind) == offsetof(pthread_rwlock_t, __data.__flags),
               "glibc's initialisers would miss it");

enum side { READ = EW_FLAG_SHARED, WRITE = 0 };

static void tell(unsigned op, unsigned flags, struct rwlock *lock, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(op, flags, lock, sizeof(pthread_rwlock_t), pc);
}

static void tell_misused(unsigned op, unsigned flags, struct rwlock *lock, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell_misused(op, flags, lock, sizeof(pthread_rwlock_t), pc);
}

// A reader may come in beside readers even while a writer waits, because it may be one of them;
// only the kind that promises not to read recursively lets writers go first. (POSIX leaves this to
// the implementation; glibc does it so.)
static bool must_wait(const struct rwlock *lock, enum side side) {
    if (lock->writer)
        return true;
    if (side == WRITE)
        return lock->readers;
    return lock->kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP && lock->waiting_writers;
}

static enum ew_woken wait(struct rwlock *lock, enum side side, int64_t deadline, const void *pc) {
    lock->waiting++;
    lock->waiting_writers += side == WRITE;
    ew_wants(EW_OP_ACQUIRE, side, lock, sizeof(pthread_rwlock_t), pc);
    enum ew_woken woken = ew_wait(lock, deadline);
    ew_wants(0, 0, NULL, 0, NULL);
    lock->waiting--;
    lock->waiting_writers -= side == WRITE;
    return woken;
}

static void wake(struct rwlock *lock) {
    if (lock->waiting)
        ew_wake_all(lock); // the scheduler decides who is first; the others wait again
}

static int take(struct rwlock *lock, enum side side, unsigned flags, const void *pc) {
    if (side == READ && lock->readers == UINT32_MAX)
        return EAGAIN;
    if (side == READ)
        lock->readers++;
    else
        lock->writer = ew_self->id + 1;
    tell(EW_OP_ACQUIRE, side | flags, lock, pc);
    return 0;
}

// --- across processes

#define WRITTEN (1u << 31) // in `readers`

struct attempt {
    struct rwlock *lock;
    enum side side;
};

static bool stands_back(const struct rwlock *lock) {
    return lock->kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP &&
           __atomic_load_n(&lock->waiting_writers, __ATOMIC_RELAXED);
}

static bool claim(void *argument) {
    const struct attempt *attempt = argument;
    struct rwlock *lock = attempt->lock;
    uint32_t before = __atomic_load_n(&lock->readers, __ATOMIC_RELAXED);
    uint32_t after = attempt->side == READ ? before + 1 : WRITTEN;
    if (attempt->side == READ ? before >= WRITTEN - 1 || stands_back(lock) : before != 0)
        return false;
    return __atomic_compare_exchange_n(&lock->readers, &before, after, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static bool try_shared(struct rwlock *lock, enum side side) {
    struct attempt attempt = {lock, side};
    if (!ew_try_elsewhere(claim, &attempt))
        return false;
    if (side == WRITE)
        lock->writer = (uint32_t)ew_thread_number(ew_self);
    return true;
}

static int lock_shared(struct rwlock *lock, enum side side, int64_t deadline, const void *pc) {
    enum ew_woken woken = EW_WOKEN;
    if (lock->writer == (uint32_t)ew_thread_number(ew_self))
        return EDEADLK;
    __atomic_fetch_add(&lock->waiting_writers, side == WRITE, __ATOMIC_RELAXED);
    bool taken;
    while (!(taken = try_shared(lock, side)) && woken == EW_WOKEN)
        woken = ew_wait_elsewhere(deadline);
    __atomic_fetch_sub(&lock->waiting_writers, side == WRITE, __ATOMIC_RELAXED);
    tell(EW_OP_ACQUIRE, side | (taken ? 0 : EW_FLAG_FAILED), lock, pc);
    return taken ? 0 : ETIMEDOUT;
}

static void unlock_shared(struct rwlock *lock, const void *pc) {
    bool written = lock->readers & WRITTEN;
    tell(EW_OP_RELEASE, written ? WRITE : READ, lock, pc);
    lock->writer = written ? 0 : lock->writer;
    if (written)
        __atomic_store_n(&lock->readers, 0, __ATOMIC_RELEASE);
    else if (lock->readers)
        __atomic_fetch_sub(&lock->readers, 1, __ATOMIC_RELEASE);
}

// --- the two ways in

static int lock_by(struct rwlock *lock, enum side side, int64_t deadline, const void *pc) {
    if (UNLIKELY(!ew_running))
        return 0;
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, lock, sizeof(pthread_rwlock_t));
    if (UNLIKELY(lock->shared))
        return lock_shared(lock, side, deadline, pc);
    if (lock->writer == ew_self->id + 1) {
        tell_misused(EW_OP_ACQUIRE, side | EW_FLAG_FAILED, lock, pc);
        return EDEADLK;
    }
    while (must_wait(lock, side))
        if (wait(lock, side, deadline, pc) == EW_TIMED_OUT && must_wait(lock, side)) {
            wake(lock); // readers that only stood back for this writer
            return ETIMEDOUT;
        }
    return take(lock, side, 0, pc);
}

static int try_lock(struct rwlock *lock, enum side side, const void *pc) {
    if (UNLIKELY(!ew_running))
        return 0;
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, lock, sizeof(pthread_rwlock_t));
    if (UNLIKELY(lock->shared)) {
        bool taken = try_shared(lock, side);
        tell(EW_OP_ACQUIRE, side | EW_FLAG_TRY | (taken ? 0 : EW_FLAG_FAILED), lock, pc);
        return taken ? 0 : EBUSY;
    }
    if (!must_wait(lock, side))
        return take(lock, side, EW_FLAG_TRY, pc);
    tell(EW_OP_ACQUIRE, side | EW_FLAG_TRY | EW_FLAG_FAILED, lock, pc);
    return EBUSY;
}

static int timed_lock(struct rwlock *lock, enum side side, clockid_t clock,
                      const struct timespec *when, const void *pc) {
    if (!ew_is_wait_clock(clock) || !ew_is_time(when))
        return EINVAL;
    return lock_by(lock, side, ew_deadline(clock, when), pc);
}

EW_EXPORT int pthread_rwlock_init(pthread_rwlock_t *handle,
                                  const pthread_rwlockattr_t *attributes) {
    int kind = PTHREAD_RWLOCK_DEFAULT_NP, sharing = PTHREAD_PROCESS_PRIVATE;
    if (attributes) {
        pthread_rwlockattr_getkind_np(attributes, &kind);
        pthread_rwlockattr_getpshared(attributes, &sharing);
    }
    ew_say_if_shared("pthread_rwlock_init", sharing);
    memset(handle, 0, sizeof *handle);
    ((struct rwlock *)handle)->kind = (uint32_t)kind;
    ((struct rwlock *)handle)->shared = sharing == PTHREAD_PROCESS_SHARED;
    if (UNLIKELY(ew_watched))
        ew_tell_order(EW_OP_INIT, 0, handle, sizeof *handle, PC);
    return 0;
}

// Does not look whether somebody has it, as glibc's does not; whoever watches is told.
EW_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *handle) {
    struct rwlock *lock = (struct rwlock *)handle;
    if (lock->writer || lock->readers)
        tell_misused(EW_OP_DESTROY, EW_FLAG_FAILED, lock, PC);
    else
        tell(EW_OP_DESTROY, 0, lock, PC);
    ew_tell_destroyed(handle, sizeof *handle, PC);
    return 0;
}

EW_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *handle) {
    return lock_by((struct rwlock *)handle, READ, EW_NEVER, PC);
}

EW_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *handle) {
    return lock_by((struct rwlock *)handle, WRITE, EW_NEVER, PC);
}

EW_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *handle) {
    return try_lock((struct rwlock *)handle, READ, PC);
}

EW_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *handle) {
    return try_lock((struct rwlock *)handle, WRITE, PC);
}

EW_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *handle, clockid_t clock,
                                         const struct timespec *when) {
    return timed_lock((struct rwlock *)handle, READ, clock, when, PC);
}

EW_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *handle, clockid_t clock,
                                         const struct timespec *when) {
    return timed_lock((struct rwlock *)handle, WRITE, clock, when, PC);
}

EW_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *handle, const struct timespec *when) {
    return timed_lock((struct rwlock *)handle, READ, CLOCK_REALTIME, when, PC);
}

EW_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *handle, const struct timespec *when) {
    return timed_lock((struct rwlock *)handle, WRITE, CLOCK_REALTIME, when, PC);
}

EW_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *handle) {
    struct rwlock *lock = (struct rwlock *)handle;
    if (UNLIKELY(!ew_running))
        return 0;
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, lock, sizeof(pthread_rwlock_t));
    if (UNLIKELY(lock->shared)) {
        unlock_shared(lock, PC);
        return 0;
    }
    // Which threads read is not known here: one that gives back what others have is seen in a
    // trace.
    bool may = lock->writer ? lock->writer == ew_self->id + 1 : lock->readers;
    (LIKELY(may) ? tell : tell_misused)(EW_OP_RELEASE, lock->writer ? WRITE : READ, lock, PC);
    if (lock->writer)
        lock->writer = 0;
    else if (lock->readers)
        lock->readers--;
    wake(lock);
    return 0;
}

EW_ALIAS(__pthread_rwlock_init, pthread_rwlock_init);
EW_ALIAS(__pthread_rwlock_destroy, pthread_rwlock_destroy);
EW_ALIAS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock);
EW_ALIAS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock);
EW_ALIAS(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock);
EW_ALIAS(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock);
EW_ALIAS(__pthread_rwlock_unlock, pthread_rwlock_unlock);
