// SPDX-License-Identifier: Apache-2.0
// pthread_barrier_*: nobody goes on before all have come.
#include "input.h"
#include "sync.h"

#include <errno.h>
#include <limits.h>

// Lives in the memory of a pthread_barrier_t.
struct barrier {
    uint32_t needed, arrived;
    uint32_t round;  // wraps; only the difference counts
    uint32_t inside; // threads that may still look at this memory
    uint32_t shared; // other processes have it too
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
    *(struct barrier *)handle =
        (struct barrier){.needed = count, .shared = sharing == PTHREAD_PROCESS_SHARED};
    return 0;
}

static bool is_empty(void *argument) {
    return __atomic_load_n(&((struct barrier *)argument)->inside, __ATOMIC_ACQUIRE) == 0;
}

// POSIX lets the thread that came last destroy it at once, while the others have not left yet.
EW_EXPORT int pthread_barrier_destroy(pthread_barrier_t *handle) {
    struct barrier *barrier = (struct barrier *)handle;
    ew_point(EW_WHY_SYNC);
    while (barrier->shared && !ew_try_elsewhere(is_empty, barrier))
        ew_wait_elsewhere(EW_NEVER);
    while (!barrier->shared && barrier->inside)
        ew_wait(&barrier->inside, EW_NEVER);
    ew_tell_destroyed(handle, sizeof *handle, PC);
    return 0;
}

static void leave(struct barrier *barrier) {
    if (__atomic_sub_fetch(&barrier->inside, 1, __ATOMIC_RELEASE) == 0)
        ew_wake_all(&barrier->inside);
}

// --- across processes: which one comes last is recorded, and so again in a replay

struct arrival {
    struct barrier *barrier;
    uint32_t round;
};

// As the last one; in a replay it is known to be, and waits for the others.
static bool come(void *argument) {
    struct barrier *barrier = argument;
    uint32_t others = barrier->needed - 1;
    if (ew_replaying)
        return __atomic_compare_exchange_n(&barrier->arrived, &others, others + 1, false,
                                           __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    return __atomic_fetch_add(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == others;
}

static bool is_over(void *argument) {
    const struct arrival *arrival = argument;
    return __atomic_load_n(&arrival->barrier->round, __ATOMIC_ACQUIRE) != arrival->round;
}

static int wait_shared(struct barrier *barrier, const void *pc) {
    struct arrival arrival = {barrier, barrier->round};
    __atomic_fetch_add(&barrier->inside, 1, __ATOMIC_ACQ_REL);
    bool last = ew_try_elsewhere(come, barrier);
    if (last) {
        barrier->arrived = 0;
        __atomic_fetch_add(&barrier->round, 1, __ATOMIC_RELEASE);
    } else if (ew_replaying) {
        __atomic_fetch_add(&barrier->arrived, 1, __ATOMIC_ACQ_REL);
    }
    while (!ew_try_elsewhere(is_over, &arrival))
        ew_wait_elsewhere(EW_NEVER);
    tell(EW_OP_WAIT, barrier, pc);
    leave(barrier);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

EW_EXPORT int pthread_barrier_wait(pthread_barrier_t *handle) {
    struct barrier *barrier = (struct barrier *)handle;
    ew_point(EW_WHY_SYNC);
    tell(EW_OP_WAKE, barrier, PC);
    if (barrier->shared)
        return wait_shared(barrier, PC);
    uint32_t round = barrier->round;
    bool last = ++barrier->arrived == barrier->needed;
    barrier->inside++;
    if (last) {
        barrier->arrived = 0;
        barrier->round++;
        ew_wake_all(barrier);
    }
    while (barrier->round == round)
        ew_wait_wanting(EW_OP_WAIT, EW_FLAG_CUMULATIVE, barrier, sizeof *handle, PC);
    tell(EW_OP_WAIT, barrier, PC);
    leave(barrier);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
