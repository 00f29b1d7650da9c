// SPDX-License-Identifier: Apache-2.0
// Locks of the program's own making, told as locks: __tsan_mutex_*.
//
// What such a lock does inside (atomic operations, futexes) is scheduled as ever, but told as
// nothing: that it orders its critical sections is what the annotation says.
#include "tsan_annotations.h"

// Of <sanitizer/tsan_interface.h>.
enum {
    LINKER_INIT = 1 << 0,
    READ_LOCK = 1 << 3,
    TRY_LOCK = 1 << 4,
    TRY_LOCK_FAILED = 1 << 5,
    RECURSIVE_LOCK = 1 << 6,
    RECURSIVE_UNLOCK = 1 << 7,
};

// Who holds which for writing, how many times. By address, only to find it again.
#define CHAINS 1024
static struct held {
    const void *lock;
    uint32_t owner, levels; // thread number + 1
    struct held *next;
} *chains[CHAINS] EW_LARGE, *unused;

static struct held **slot_of(const void *lock) {
    struct held **at = &chains[((uintptr_t)lock * 0x9E3779B97F4A7C15u) >> 54];
    while (*at && (*at)->lock != lock)
        at = &(*at)->next;
    return at;
}

static struct held *held_create(const void *lock) {
    if (!unused) {
        struct held *some = ew_pages(256 * sizeof *some);
        for (int i = 0; i < 256; i++) {
            some[i].next = unused;
            unused = &some[i];
        }
    }
    struct held *held = unused;
    unused = held->next;
    *held = (struct held){.lock = lock};
    return held;
}

static void held_destroy(struct held **slot) {
    struct held *held = *slot;
    *slot = held->next;
    held->next = unused;
    unused = held;
}

static void tell(unsigned op, unsigned flags, const void *lock, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(op, flags, lock, 1, pc);
}

void ew_annotate_locked(const void *lock, bool shared, uint32_t levels, const void *pc) {
    struct held **slot = slot_of(lock);
    if (shared) {
        tell(EW_OP_ACQUIRE, EW_FLAG_SHARED, lock, pc);
        return;
    }
    if (!*slot)
        *slot = held_create(lock);
    if ((*slot)->owner == ew_self->id + 1) { // again
        (*slot)->levels += levels;
        return;
    }
    (*slot)->owner = ew_self->id + 1;
    (*slot)->levels = levels;
    tell(EW_OP_ACQUIRE, 0, lock, pc);
}

uint32_t ew_annotate_unlocked(const void *lock, bool shared, bool all_levels, const void *pc) {
    struct held **slot = slot_of(lock);
    if (shared || !*slot) {
        tell(EW_OP_RELEASE, shared ? EW_FLAG_SHARED : 0, lock, pc);
        return 0;
    }
    uint32_t given = all_levels ? (*slot)->levels : 1;
    if ((*slot)->levels > given) {
        (*slot)->levels -= given;
        return given;
    }
    held_destroy(slot);
    tell(EW_OP_RELEASE, 0, lock, pc);
    return given;
}

void ew_annotate_lock_forgotten(const void *lock) {
    struct held **slot = slot_of(lock);
    if (*slot)
        held_destroy(slot);
}

EW_EXPORT void __tsan_mutex_create(void *lock, unsigned flags) {
    (void)flags;
    ew_annotate_lock_forgotten(lock);
}

EW_EXPORT void __tsan_mutex_destroy(void *lock, unsigned flags) {
    if (!(flags & LINKER_INIT))
        ew_annotate_lock_forgotten(lock);
}

EW_EXPORT void __tsan_mutex_pre_lock(void *lock, unsigned flags) {
    if (!(flags & TRY_LOCK))
        ew_wants(EW_OP_ACQUIRE, flags & READ_LOCK ? EW_FLAG_SHARED : 0, lock, 1, PC);
    ew_ignore_begin();
}

EW_EXPORT void __tsan_mutex_post_lock(void *lock, unsigned flags, int levels) {
    bool shared = flags & READ_LOCK;
    ew_ignore_end();
    ew_wants(0, 0, NULL, 0, NULL);
    if (flags & TRY_LOCK_FAILED)
        tell(EW_OP_ACQUIRE, EW_FLAG_TRY | EW_FLAG_FAILED | (shared ? EW_FLAG_SHARED : 0), lock, PC);
    else
        ew_annotate_locked(lock, shared, flags & RECURSIVE_LOCK ? (uint32_t)levels : 1, PC);
}

EW_EXPORT int __tsan_mutex_pre_unlock(void *lock, unsigned flags) {
    uint32_t levels = ew_annotate_unlocked(lock, flags & READ_LOCK, flags & RECURSIVE_UNLOCK, PC);
    ew_ignore_begin();
    return (int)levels;
}

EW_EXPORT void __tsan_mutex_post_unlock(void *lock, unsigned flags) {
    (void)lock;
    (void)flags;
    ew_ignore_end();
}

EW_EXPORT void __tsan_mutex_pre_signal(void *lock, unsigned flags) {
    (void)lock;
    (void)flags;
    ew_ignore_begin();
}

EW_EXPORT void __tsan_mutex_post_signal(void *lock, unsigned flags) {
    (void)lock;
    (void)flags;
    ew_ignore_end();
}

// Code that has nothing to do with the lock, in the middle of it.
EW_EXPORT void __tsan_mutex_pre_divert(void *lock, unsigned flags) {
    (void)lock;
    (void)flags;
    ew_ignore_end();
}

EW_EXPORT void __tsan_mutex_post_divert(void *lock, unsigned flags) {
    (void)lock;
    (void)flags;
    ew_ignore_begin();
}

// Of those told here: who holds a lock of pthreads, a trace says.
EW_EXPORT void __tsan_check_no_mutexes_held(void) {
    for (int i = 0; i < CHAINS; i++)
        for (const struct held *held = chains[i]; held; held = held->next)
            if (held->owner == ew_self->id + 1)
                ew_report("__tsan_check_no_mutexes_held", "this thread holds a lock here");
}
