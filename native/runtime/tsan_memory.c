// SPDX-License-Identifier: Apache-2.0
// The compiler's calls before each plain access, and at each function's entry and exit.
#include "pairs.h"
#include "past.h"

int64_t ew_accesses_held;
// Frames of what runs before the runtime does: resolvers.
EW_LARGE uintptr_t ew_frames_before_start[1024];

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

EW_COLD bool ew_access_due(void) {
    if (ew_accesses_held > 0) {
        ew_accesses_held--;
        ew_accesses_left = 0;
        return false;
    }
    ew_point(EW_WHY_ACCESS);
    return true;
}

// The decision comes before the access, and nothing else can happen between them.
static EW_COLD void decide(unsigned op, const void *address, size_t size, const void *pc) {
    struct ew_access access = {(uintptr_t)address, size, (uintptr_t)pc, (uint8_t)op, false};
    bool shared = ew_detecting && ew_is_contested(&access);
    ew_self->access = (struct ew_about){address, (uint32_t)size, (uint8_t)op, EW_WHY_ACCESS};
    if (!ew_access_due() && shared)
        ew_point_at(EW_WHY_PLACE, op, address, size);
    if (shared)
        ew_pair(address, pc, op != LOAD);
    if (ew_watched)
        ew_tell_access(op, address, size, pc);
    if (shared)
        ew_contest(&access, false);
}

// What the running thread has touched since its last release needs no look. While nobody looks for
// races, all cells and the running thread's entry are zero. What begins in the middle of a cell is
// looked at: it would find the one's reads where it expects writes.
static inline bool is_done(uintptr_t address, size_t size, bool writes) {
    const struct ew_cell *cell = ew_cell_at(address & (size < 4 ? ~3ul : ~0ul));
    uint32_t mine = ew_current;
    if (size == 16)
        return is_done(address, 8, writes) && is_done(address + 8, 8, writes);
    if (size >= 4 && UNLIKELY(address & 3))
        return false;
    if (size == 8)
        return (cell[0].write == mine && cell[1].write == mine) ||
               (!writes && cell[0].read == mine && cell[1].read == mine);
    if (size == 4)
        return cell->write == mine || (!writes && cell->read == mine);
    uint32_t relevant = ~EW_BYTES | ((1u << size) - 1) << (address & 3);
    return (address & 3) + size <= 4 &&
           (!((cell->write ^ mine) & relevant) || (!writes && !((cell->read ^ mine) & relevant)));
}

#define LOOK(size)                                                                                 \
    case size:                                                                                     \
        (op == LOAD ? ew_shadow_read##size : ew_shadow_write##size)((uintptr_t)address,            \
                                                                    (uintptr_t)pc);                \
        break
static inline void look(unsigned op, const void *address, size_t size, const void *pc) {
    switch (size) {
        LOOK(1);
        LOOK(2);
        LOOK(4);
        LOOK(8);
    default:
        ew_shadow_look(op, address, size, pc);
    }
}
#undef LOOK

static inline void access(unsigned op, const void *address, size_t size, const void *pc) {
    if (UNLIKELY(!ew_access_passes()))
        decide(op, address, size, pc);
    else if (UNLIKELY(!is_done((uintptr_t)address, size, op == STORE)))
        look(op, address, size, pc);
}

void ew_access(unsigned op, const void *address, size_t size, const void *pc) {
    if (UNLIKELY(!ew_access_passes()))
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
    EW_EXPORT void __tsan_unaligned_read##size(void *p) {                                          \
        ew_access(LOAD, p, size, PC);                                                              \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_write##size(void *p) {                                         \
        ew_access(STORE, p, size, PC);                                                             \
    }                                                                                              \
    EW_EXPORT void __tsan_volatile_read##size(void *p) {                                           \
        access(LOAD, p, size, PC);                                                                 \
    }                                                                                              \
    EW_EXPORT void __tsan_volatile_write##size(void *p) {                                          \
        access(STORE, p, size, PC);                                                                \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_volatile_read##size(void *p) {                                 \
        ew_access(LOAD, p, size, PC);                                                              \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_volatile_write##size(void *p) {                                \
        ew_access(STORE, p, size, PC);                                                             \
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
    uintptr_t *frames = ew_frames - 1;
    __asm__("" : "+r"(frames)); // as in ew_access_passes
    ew_frames = frames;
}
