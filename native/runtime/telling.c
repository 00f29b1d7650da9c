// SPDX-License-Identifier: Apache-2.0
// What happens is told to whoever watches: the detection of races, the tracer, or both.
#include "clocks.h"
#include "shadow.h"
#include "tsan_annotations.h"

bool ew_watched, ew_detecting;

void ew_tell(unsigned op, unsigned flags, const void *object, size_t size, const void *pc) {
    if (ew_detecting)
        ew_clocks_event(op, flags, object);
    if (ew_tracing)
        ew_trace(op, flags, object, size, pc);
}

// It follows what it acquires from, and is itself among what it releases.
void ew_tell_atomic(unsigned op, const void *object, size_t size, const void *pc, int order) {
    if (ew_self->life.ignored.sync)
        order = __ATOMIC_RELAXED;
    if (ew_detecting) {
        struct ew_access access = {(uintptr_t)object, size, (uintptr_t)pc, (uint8_t)op, true};
        ew_clocks_acquire(op, object, order);
        ew_shadow_access(&access);
        ew_clocks_release(op, object, order);
    }
    if (ew_tracing)
        ew_trace_atomic(op, object, size, pc, order);
}

void ew_tell_fence(int order, const void *pc) {
    if (ew_self->life.ignored.sync)
        return;
    if (ew_detecting)
        ew_clocks_fence(order);
    if (ew_tracing)
        ew_trace_fence(order, pc);
}

void ew_tell_life(unsigned op, struct ew_thread *other, const void *pc) {
    if (ew_detecting)
        ew_clocks_life(op, other);
    if (ew_tracing)
        ew_trace_life(op, other, pc);
}

void ew_forget_wake(void) {
    ew_self->woken_by = UINT32_MAX;
    ew_vector_drop(&ew_self->times.woken);
}

static bool is_ignored(unsigned op) {
    const struct ew_ignored *ignored = &ew_self->life.ignored;
    return (op == EW_OP_LOAD && ignored->reads) || (op == EW_OP_STORE && ignored->writes);
}

// A plain access on which the program expects races counts as atomic.
void ew_detect_access(unsigned op, const void *address, size_t size, const void *pc) {
    struct ew_access access = {(uintptr_t)address, size, (uintptr_t)pc, (uint8_t)op,
                               ew_expects_races(address, size)};
    if (!is_ignored(op))
        ew_shadow_access(&access);
}

void ew_tell_access(unsigned op, const void *address, size_t size, const void *pc) {
    if (ew_detecting)
        ew_detect_access(op, address, size, pc);
    if (ew_tracing && !is_ignored(op))
        ew_trace_access(op, ew_expects_races(address, size) ? EW_FLAG_ATOMIC : 0, address, size,
                        pc);
}

void ew_detect(void) {
    ew_clocks_start();
    ew_watched = ew_detecting = true;
}
