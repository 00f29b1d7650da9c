// SPDX-License-Identifier: Apache-2.0
// What happens is told to whoever watches: the detection of races, the tracer, or both.
#include "clocks.h"
#include "objects.h"
#include "pairs.h"
#include "places.h"
#include "races.h"
#include "schedulers/policy.h"
#include "shadow.h"
#include "tsan_annotations.h"

bool ew_watched, ew_detecting;

static inline void hear(unsigned op, const void *object, size_t size) {
    if (UNLIKELY(ew_branch_listens))
        ew_branch_hear(op, object, size);
}

void ew_tell_order(unsigned op, unsigned flags, const void *object, size_t size, const void *pc) {
    if (ew_detecting)
        ew_clocks_event(op, flags, object);
    bool comes_off = !(flags & (EW_FLAG_FAILED | EW_FLAG_BLOCKED));
    if (comes_off && (op == EW_OP_ACQUIRE || op == EW_OP_WAIT || op == EW_OP_WAKE))
        hear(op, object, size);
    if (comes_off && op == EW_OP_ACQUIRE)
        ew_pair(object, pc, !(flags & EW_FLAG_SHARED));
    if (ew_tracing) {
        ew_object_at(object);
        ew_trace(op, flags, object, size, pc);
    }
}

// Looks at it, atomically. Who waits has done so before he waits: when he is woken it may be gone.
static void use(const void *object, const void *pc) {
    hear(EW_OP_LOAD, object, 1);
    if (ew_detecting)
        ew_shadow_use((uintptr_t)object, (uintptr_t)pc);
    if (ew_tracing)
        ew_trace_access(EW_OP_LOAD, EW_FLAG_ATOMIC, object, 1, pc);
}

void ew_tell_used(const void *object, const void *pc) {
    if (UNLIKELY(ew_watched))
        use(object, pc);
}

void ew_tell(unsigned op, unsigned flags, const void *object, size_t size, const void *pc) {
    if (op == EW_OP_RELEASE || op == EW_OP_WAKE)
        use(object, pc);
    ew_tell_order(op, flags, object, size, pc);
    if (op == EW_OP_ACQUIRE)
        use(object, pc);
}

void ew_tell_misused(unsigned op, unsigned flags, const void *lock, size_t size, const void *pc) {
    if (ew_detecting)
        ew_misused(op, lock, pc);
    ew_tell(op, flags, lock, size, pc);
}

void ew_tell_destroyed(const void *object, size_t size, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell_access(EW_OP_STORE, object, size, pc);
}

// It follows what it acquires from, and is itself among what it releases.
void ew_tell_atomic(unsigned op, const void *object, size_t size, const void *pc, int order) {
    if (ew_self->life.ignored.sync)
        order = __ATOMIC_RELAXED;
    hear(op, object, size);
    if (ew_detecting) {
        struct ew_access access = {(uintptr_t)object, size, (uintptr_t)pc, (uint8_t)op, true};
        ew_pair(object, pc, op != EW_OP_LOAD);
        ew_clocks_acquire(op, object, order);
        ew_shadow_access(&access);
        ew_clocks_release(op, object, order);
    }
    if (ew_tracing) {
        ew_object_at(object);
        ew_trace_atomic(op, object, size, pc, order);
    }
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
    return op == EW_OP_LOAD ? ignored->reads : ignored->writes;
}

// A plain access on which the program expects races counts as atomic.
void ew_detect_access(unsigned op, const void *address, size_t size, const void *pc) {
    struct ew_access access = {(uintptr_t)address, size, (uintptr_t)pc, (uint8_t)op,
                               ew_expects_races(address, size)};
    if (!is_ignored(op))
        ew_shadow_access(&access);
}

void ew_tell_access(unsigned op, const void *address, size_t size, const void *pc) {
    hear(op, address, size);
    if (ew_detecting)
        ew_detect_access(op, address, size, pc);
    if (ew_tracing && !is_ignored(op))
        ew_trace_access(op, ew_expects_races(address, size) ? EW_FLAG_ATOMIC : 0, address, size,
                        pc);
}

// --- memory that comes and goes

void ew_tell_allocated(const struct ew_block_of *block, bool mine) {
    mine = mine && !is_ignored(EW_OP_ALLOCATE);
    if (mine)
        hear(EW_OP_ALLOCATE, block->address, block->usable);
    if (ew_detecting)
        ew_shadow_fresh((uintptr_t)block->address, block->usable, mine);
    if (!ew_tracing)
        return;
    ew_trace_block(EW_MEMORY_ALLOCATED, block->address, block->size, block->pc);
    if (mine)
        ew_trace_access(EW_OP_ALLOCATE, 0, block->address, block->usable, block->pc);
}

// A write to all of it; what threads synchronised with in it is gone.
void ew_tell_freed(const struct ew_block_of *block) {
    uintptr_t address = (uintptr_t)block->address;
    struct ew_access access = {address, block->usable, (uintptr_t)block->pc, EW_OP_FREE, false};
    bool ends_objects = ew_objects_end(address, block->usable);
    hear(EW_OP_FREE, block->address, block->usable);
    if (ew_detecting && LIKELY(!ew_places_filtered)) {
        ew_shadow_free(&access);
    } else if (ew_detecting) {
        ew_detect_access(EW_OP_FREE, block->address, block->usable, block->pc);
        ew_shadow_freed(address, block->usable);
    }
    if (!ew_tracing)
        return;
    if (!is_ignored(EW_OP_FREE))
        ew_trace_free(block->address, block->usable, block->pc, ends_objects);
    ew_trace_block(EW_MEMORY_FREED, block->address, block->size, block->pc);
}

void ew_tell_fresh(enum ew_memory what, const void *address, size_t size, const void *pc) {
    if (ew_detecting)
        ew_shadow_fresh((uintptr_t)address, size, false);
    if (ew_tracing)
        ew_trace_block(what, address, size, pc);
}

void ew_detect(void) {
    ew_clocks_start();
    ew_watched = ew_detecting = true;
}
