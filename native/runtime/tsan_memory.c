// SPDX-License-Identifier: Apache-2.0
// The compiler's calls before each plain access, and at each function's entry and exit.
#include "runtime.h"

int64_t ew_accesses_left = INT64_MAX, ew_accesses_held;
EW_LARGE static uintptr_t
    before_start[1024]; // frames of what runs before the runtime does: resolvers
uintptr_t *ew_frames = before_start;

#define PC __builtin_return_address(0)
#define LOAD EW_OP_LOAD
#define STORE EW_OP_STORE

void ew_accesses_hold(void) {
    int64_t silent = ew_trace_silent_accesses();
    ew_accesses_release();
    if (silent < ew_accesses_left) {
        ew_accesses_held = ew_accesses_left - silent;
        ew_accesses_left = silent;
    }
}

EW_COLD void ew_access_due(void) {
    if (ew_accesses_held > 0) {
        ew_accesses_held--;
        ew_accesses_left = 0;
    } else {
        ew_point(EW_WHY_ACCESS);
    }
}

static EW_COLD void slow(unsigned op, const void *address, size_t size, const void *pc) {
    ew_access_due();
    if (ew_tracing)
        ew_trace_access(op, address, size, pc);
}

// The decision comes before the access, and nothing else can happen between them.
static inline void access(unsigned op, const void *address, size_t size, const void *pc) {
    if (UNLIKELY(--ew_accesses_left < 0))
        slow(op, address, size, pc);
}

void ew_access(unsigned op, const void *address, size_t size, const void *pc) {
    access(op, address, size, pc);
}

#define HOOKS(size)                                                                                \
    EW_EXPORT void __tsan_read##size(void *p) {                                                    \
        access(LOAD, p, size, PC);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_write##size(void *p) {                                                   \
        access(STORE, p, size, PC);                                                                \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_read##size(void *p) {                                          \
        access(LOAD, p, size, PC);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_write##size(void *p) {                                         \
        access(STORE, p, size, PC);                                                                \
    }                                                                                              \
    EW_EXPORT void __tsan_volatile_read##size(void *p) {                                           \
        access(LOAD, p, size, PC);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_volatile_write##size(void *p) {                                          \
        access(STORE, p, size, PC);                                                                \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_volatile_read##size(void *p) {                                 \
        access(LOAD, p, size, PC);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_volatile_write##size(void *p) {                                \
        access(STORE, p, size, PC);                                                                \
    }                                                                                              \
    EW_EXPORT void __tsan_read##size##_pc(void *p, void *pc) {                                     \
        access(LOAD, p, size, pc);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_write##size##_pc(void *p, void *pc) {                                    \
        access(STORE, p, size, pc);                                                                \
    }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

EW_EXPORT void __tsan_vptr_read(void **vptr) {
    access(LOAD, vptr, sizeof *vptr, PC);
}

// A destructor stores the same pointer again for each base class: no store that anyone could see.
EW_EXPORT void __tsan_vptr_update(void **vptr, void *value) {
    if (*vptr != value)
        access(STORE, vptr, sizeof *vptr, PC);
}

EW_EXPORT void __tsan_init(void) {}

EW_EXPORT void __tsan_func_entry(void *caller) {
    *ew_frames++ = (uintptr_t)caller;
}

EW_EXPORT void __tsan_func_exit(void) {
    ew_frames--;
}
