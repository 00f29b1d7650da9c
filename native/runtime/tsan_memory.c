// SPDX-License-Identifier: Apache-2.0
// The compiler's calls before each plain access, and at each function's entry and exit.
#include "pairs.h"
#include "usual.h"

int64_t ew_accesses_held;
struct ew_told ew_told;
// Frames of what runs before the runtime does: resolvers.
EW_LARGE uintptr_t ew_frames_before_start[1024];

#define LOAD EW_OP_LOAD
#define STORE EW_OP_STORE

void ew_accesses_hold(void) {
    int64_t all = ew_accesses_left + ew_accesses_held;
    int64_t silent = ew_trace_silent_accesses();
    bool traced = silent < INT64_MAX;
    ew_told.traced = traced ? ew_trace_span() : (struct ew_span){0, 0};
    ew_told.held = traced ? ew_trace_held_at_end() : 0;
    if (ew_accesses_ask())
        silent = 0;
    ew_accesses_left = silent < all ? silent : all;
    ew_accesses_held = all - ew_accesses_left;
}

void ew_accesses_cut(void) {
    ew_accesses_granted -= ew_accesses_left + ew_accesses_held;
    ew_accesses_left = ew_accesses_held = 0;
}

static bool is_due(bool asked) {
    if (ew_accesses_held > 0 && !asked) {
        ew_accesses_held--;
        ew_accesses_left = 0;
        return false;
    }
    ew_point(EW_WHY_ACCESS);
    return true;
}

EW_COLD bool ew_access_due(void) {
    return is_due(ew_accesses_ask());
}

// The decision comes before the access, and nothing else can happen between them.
static EW_COLD void decide(unsigned op, const void *address, size_t size, const void *pc) {
    struct ew_access access = {(uintptr_t)address, size, (uintptr_t)pc, (uint8_t)op, false};
    bool shared = ew_detecting && ew_is_contested(&access);
    ew_self->access = (struct ew_about){address, (uint32_t)size, (uint8_t)op, EW_WHY_ACCESS};
    if (!is_due(!ew_is_beside(ew_told.asked, (uintptr_t)address, size)) && shared)
        ew_point_at(EW_WHY_PLACE, op, address, size);
    if (shared)
        ew_pair(address, pc, op != LOAD);
    if (ew_watched)
        ew_tell_access(op, address, size, pc);
    if (shared)
        ew_contest(&access, false);
}

static inline __attribute__((always_inline)) bool is_done(uintptr_t address, size_t size,
                                                          bool writes) {
    if (size == 16)
        return ew_two_are_done(address, writes) && ew_two_are_done(address + 8, writes);
    if (size == 8)
        return ew_two_are_done(address, writes);
    return size == 4 ? ew_cell_is_done(address, writes)
                     : ew_small_is_done(address, (uint32_t)size, writes);
}

// Looks at small fields, apart from their hooks, which so need no frame.
#define APART static __attribute__((noinline)) void
#define SMALL(size)                                                                                \
    APART read##size##_first(uintptr_t address, uintptr_t pc) {                                    \
        ew_usual_small(LOAD, address, size, pc);                                                   \
    }                                                                                              \
    APART write##size##_first(uintptr_t address, uintptr_t pc) {                                   \
        ew_usual_small(STORE, address, size, pc);                                                  \
    }
SMALL(1)
SMALL(2)

static inline __attribute__((always_inline)) void look(unsigned op, uintptr_t address, size_t size,
                                                       uintptr_t pc) {
    if (size == 16)
        ew_shadow_look(op, (const void *)address, size, (const void *)pc);
    else if (size == 8)
        ew_usual_two(op, address, pc);
    else if (size == 4)
        ew_usual_cell(op, address, pc);
    else if (size == 2)
        (op == LOAD ? read2_first : write2_first)(address, pc);
    else
        (op == LOAD ? read1_first : write1_first)(address, pc);
}

static inline __attribute__((always_inline)) void access(unsigned op, void *p, size_t size,
                                                         const void *pc) {
    uintptr_t address = (uintptr_t)p;
    if (UNLIKELY(!ew_access_passes()) && !ew_access_is_untold(address, size))
        decide(op, p, size, pc);
    else if (LIKELY(is_done(address, size, op == STORE)))
        return;
    else
        look(op, address, size, (uintptr_t)pc);
}

// What hooks.s has counted and found not to be done. What is of four bytes begins with its cell; of
// smaller ones it looks for whole entries only.
static inline __attribute__((always_inline)) void
fresh(unsigned op, void *p, size_t size, struct ew_cell *cell, uint32_t current, const void *pc) {
    uintptr_t address = (uintptr_t)p;
    if (size == 4)
        ew_usual_whole(op, address, cell, current, (uintptr_t)pc);
    else if (size == 8 || !is_done(address, size, op == STORE))
        look(op, address, size, (uintptr_t)pc);
}

void ew_access(unsigned op, const void *address, size_t size, const void *pc) {
    if (UNLIKELY(!ew_access_passes()) && !ew_access_is_untold((uintptr_t)address, size))
        decide(op, address, size, pc);
    else if (ew_detecting)
        ew_shadow_look(op, address, size, pc);
}

#define HOOKS(size)                                                                                \
    EW_EXPORT void __tsan_read##size(void *p) {                                                    \
        access(LOAD, p, size, PC);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_write##size(void *p) {                                                   \
        access(STORE, p, size, PC);                                                                \
    }                                                                                              \
    EW_EXPORT void __tsan_read##size##_pc(void *p, void *pc) {                                     \
        access(LOAD, p, size, pc);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_write##size##_pc(void *p, void *pc) {                                    \
        access(STORE, p, size, pc);                                                                \
    }                                                                                              \
    EW_EXPORT void __tsan_volatile_read##size(void *p) {                                           \
        __tsan_read##size##_pc(p, PC);                                                             \
    }                                                                                              \
    EW_EXPORT void __tsan_volatile_write##size(void *p) {                                          \
        __tsan_write##size##_pc(p, PC);                                                            \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_read##size(void *p) {                                          \
        ew_access(LOAD, p, size, PC);                                                              \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_write##size(void *p) {                                         \
        ew_access(STORE, p, size, PC);                                                             \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_volatile_read##size(void *p) {                                 \
        ew_access(LOAD, p, size, PC);                                                              \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_volatile_write##size(void *p) {                                \
        ew_access(STORE, p, size, PC);                                                             \
    }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

// One place in the program is one for all who ask by it: that of the other call in hooks.s.
#define OTHER_PC ((const char *)PC + 11)
#define FRESH(size)                                                                                \
    EW_EXPORT void __eitherway_fresh_read##size(void *p, struct ew_cell *cell, uint32_t current) { \
        fresh(LOAD, p, size, cell, current, OTHER_PC);                                             \
    }                                                                                              \
    EW_EXPORT void __eitherway_fresh_write##size(void *p, struct ew_cell *cell,                    \
                                                 uint32_t current) {                               \
        fresh(STORE, p, size, cell, current, OTHER_PC);                                            \
    }
FRESH(1)
FRESH(2)
FRESH(4)
FRESH(8)

EW_EXPORT void __tsan_vptr_read(void **vptr) {
    __tsan_read8_pc(vptr, PC);
}

// A destructor stores the same pointer again for each base class: no store that anyone could see.
EW_EXPORT void __tsan_vptr_update(void **vptr, void *value) {
    if (*vptr != value)
        __tsan_write8_pc(vptr, PC);
}

EW_EXPORT void __tsan_init(void) {}

EW_EXPORT void __tsan_func_entry(void *caller) {
    *ew_frames++ = (uintptr_t)caller;
}

EW_EXPORT void __tsan_func_exit(void) {
    uintptr_t *frames = ew_frames - 1;
    __asm__("" : "+r"(frames)); // as in ew_access_passes
    ew_frames = frames;
}
