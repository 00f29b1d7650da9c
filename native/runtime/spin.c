// SPDX-License-Identifier: Apache-2.0
// pthread_spin_*: on one carrier spinning is waiting.
#include "sync.h"

#include <errno.h>

// The whole of a pthread_spinlock_t: number of the thread that holds it + 1, or 0.
#define FREE 0

static void tell(unsigned op, unsigned flags, pthread_spinlock_t *lock, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(op, flags, (const void *)lock, sizeof *lock, pc);
}

EW_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int sharing) {
    ew_say_if_shared("pthread_spin_init", sharing);
    *lock = FREE;
    return 0;
}

EW_EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock) {
    (void)lock;
    return 0;
}

EW_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock) {
    ew_point(EW_WHY_SYNC);
    while (*lock != FREE)
        ew_wait((const void *)lock, EW_NEVER);
    *lock = (int)ew_self->id + 1;
    tell(EW_OP_ACQUIRE, 0, lock, PC);
    return 0;
}

EW_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock) {
    ew_point(EW_WHY_SYNC);
    bool taken = *lock == FREE;
    if (taken)
        *lock = (int)ew_self->id + 1;
    tell(EW_OP_ACQUIRE, EW_FLAG_TRY | (taken ? 0 : EW_FLAG_FAILED), lock, PC);
    return taken ? 0 : EBUSY;
}

EW_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock) {
    ew_point(EW_WHY_SYNC);
    tell(EW_OP_RELEASE, 0, lock, PC);
    *lock = FREE;
    ew_wake_all((const void *)lock);
    return 0;
}
