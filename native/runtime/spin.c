// SPDX-License-Identifier: Apache-2.0
// pthread_spin_*: on one carrier spinning is waiting.
#include "sync.h"

#include <errno.h>

// The whole of a pthread_spinlock_t: number of the thread that holds it + 1, or 0; and whether
// other processes have it too.
#define ELSEWHERE (1 << 30)

static void tell(unsigned op, unsigned flags, pthread_spinlock_t *lock, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(op, flags, (const void *)lock, sizeof *lock, pc);
}

static void tell_misused(unsigned op, unsigned flags, pthread_spinlock_t *lock, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell_misused(op, flags, (const void *)lock, sizeof *lock, pc);
}

static bool claim(void *lock) {
    int shared = *(volatile int *)lock & ELSEWHERE, expected = shared;
    return __atomic_compare_exchange_n((int *)lock, &expected, shared | (int)(ew_self->id + 1),
                                       false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool take(pthread_spinlock_t *lock) {
    return *lock & ELSEWHERE ? ew_try_elsewhere(claim, (void *)lock) : claim((void *)lock);
}

EW_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int sharing) {
    ew_say_if_shared("pthread_spin_init", sharing);
    *lock = sharing == PTHREAD_PROCESS_SHARED ? ELSEWHERE : 0;
    if (UNLIKELY(ew_watched))
        ew_tell_order(EW_OP_INIT, 0, (const void *)lock, sizeof *lock, PC);
    return 0;
}

EW_EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock) {
    if (*lock & ~ELSEWHERE)
        tell_misused(EW_OP_DESTROY, EW_FLAG_FAILED, lock, PC);
    else
        tell(EW_OP_DESTROY, 0, lock, PC);
    ew_tell_destroyed((const void *)lock, sizeof *lock, PC);
    return 0;
}

EW_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock) {
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, lock, sizeof *lock);
    while (!take(lock)) {
        if (*lock & ELSEWHERE)
            ew_wait_elsewhere(EW_NEVER);
        else
            ew_wait_wanting(EW_OP_ACQUIRE, 0, (const void *)lock, sizeof *lock, PC);
    }
    tell(EW_OP_ACQUIRE, 0, lock, PC);
    return 0;
}

EW_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock) {
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, lock, sizeof *lock);
    bool taken = take(lock);
    tell(EW_OP_ACQUIRE, EW_FLAG_TRY | (taken ? 0 : EW_FLAG_FAILED), lock, PC);
    return taken ? 0 : EBUSY;
}

EW_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock) {
    ew_point_at(EW_WHY_SYNC, EW_OP_UPDATE, lock, sizeof *lock);
    bool mine = (*lock & ~ELSEWHERE) == (int)(ew_self->id + 1);
    (LIKELY(mine) ? tell : tell_misused)(EW_OP_RELEASE, 0, lock, PC);
    __atomic_store_n(lock, *lock & ELSEWHERE, __ATOMIC_RELEASE);
    ew_wake_all((const void *)lock);
    return 0;
}
