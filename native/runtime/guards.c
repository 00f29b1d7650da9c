// SPDX-License-Identifier: Apache-2.0
// __cxa_guard_*: a C++ static local is initialised by the first thread that comes to it.
#include "sync.h"

// A guard variable is 64 bits; the Itanium C++ ABI fixes the meaning of the first byte, which the
// compiler tests in line, and leaves the others to us.
struct guard {
    uint8_t done;
    uint8_t running;
};

static void tell(unsigned op, struct guard *guard, const void *pc, int order) {
    if (UNLIKELY(ew_watched))
        ew_tell_atomic(op, &guard->done, sizeof guard->done, pc, order);
}

static void finish(struct guard *guard, bool done) {
    guard->running = 0;
    guard->done = done;
    ew_wake_all(guard);
}

int __cxa_guard_acquire(uint64_t *handle);
void __cxa_guard_release(uint64_t *handle);
void __cxa_guard_abort(uint64_t *handle);

// 1: the caller is to initialise the object.
EW_EXPORT int __cxa_guard_acquire(uint64_t *handle) {
    struct guard *guard = (struct guard *)handle;
    ew_point(EW_WHY_SYNC);
    while (guard->running)
        ew_wait_wanting(EW_OP_WAIT, 0, guard, sizeof *handle, PC);
    tell(EW_OP_LOAD, guard, PC, __ATOMIC_ACQUIRE);
    if (guard->done)
        return 0;
    guard->running = 1;
    return 1;
}

EW_EXPORT void __cxa_guard_release(uint64_t *handle) {
    struct guard *guard = (struct guard *)handle;
    ew_point(EW_WHY_SYNC);
    tell(EW_OP_STORE, guard, PC, __ATOMIC_RELEASE);
    finish(guard, true);
}

EW_EXPORT void __cxa_guard_abort(uint64_t *handle) { // its initialiser has thrown
    struct guard *guard = (struct guard *)handle;
    ew_point(EW_WHY_SYNC);
    tell(EW_OP_STORE, guard, PC, __ATOMIC_RELEASE); // who tries again comes behind
    finish(guard, false);
}
