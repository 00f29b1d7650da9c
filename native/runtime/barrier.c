// SPDX-License-Identifier: Apache-2.0
// pthread_barrier_*: nobody goes on before all have come.
#include "sync.h"

#include <errno.h>
#include <limits.h>

// Lives in the memory of a pthread_barrier_t.
struct barrier {
    uint32_t needed, arrived;
    uint32_t round;  // wraps; only the difference counts
    uint32_t inside; // threads that may still look at this memory
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "does not fit");

static void tell(unsigned op, struct barrier *barrier, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(op, EW_FLAG_CUMULATIVE, barrier, sizeof(pthread_barrier_t), pc);
}

EW_EXPORT int pthread_barrier_init(pthread_barrier_t *handle,
                                   const pthread_barrierattr_t *attributes, unsigned count) {
    if (count == 0 || count > INT_MAX)
        return EINVAL;
    int sharing = PTHREAD_PROCESS_PRIVATE;
    if (attributes)
        pthread_barrierattr_getpshared(attributes, &sharing);
    ew_say_if_shared("pthread_barrier_init", sharing);
    *(struct barrier *)handle = (struct barrier){.needed = count};
    return 0;
}

// POSIX lets the thread that came last destroy it at once, while the others have not left yet.
EW_EXPORT int pthread_barrier_destroy(pthread_barrier_t *handle) {
    struct barrier *barrier = (struct barrier *)handle;
    ew_point(EW_WHY_SYNC);
    while (barrier->inside)
        ew_wait(&barrier->inside, EW_NEVER);
    return 0;
}

static void leave(struct barrier *barrier) {
    if (--barrier->inside == 0)
        ew_wake_all(&barrier->inside);
}

EW_EXPORT int pthread_barrier_wait(pthread_barrier_t *handle) {
    struct barrier *barrier = (struct barrier *)handle;
    ew_point(EW_WHY_SYNC);
    tell(EW_OP_WAKE, barrier, PC);
    uint32_t round = barrier->round;
    bool last = ++barrier->arrived == barrier->needed;
    barrier->inside++;
    if (last) {
        barrier->arrived = 0;
        barrier->round++;
        ew_wake_all(barrier);
    }
    while (barrier->round == round)
        ew_wait(barrier, EW_NEVER);
    tell(EW_OP_WAIT, barrier, PC);
    leave(barrier);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
