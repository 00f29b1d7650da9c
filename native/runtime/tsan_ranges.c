// SPDX-License-Identifier: Apache-2.0
// Accesses that the compiler tells in other ways: of any length, a read and a write at once.
#include "runtime.h"

static void read_range(const void *address, size_t size, const void *pc) {
    if (size)
        ew_access(EW_OP_LOAD, address, size, pc);
}

static void write_range(const void *address, size_t size, const void *pc) {
    if (size)
        ew_access(EW_OP_STORE, address, size, pc);
}

EW_EXPORT void __tsan_read_range(void *address, size_t size) {
    read_range(address, size, PC);
}

EW_EXPORT void __tsan_write_range(void *address, size_t size) {
    write_range(address, size, PC);
}

EW_EXPORT void __tsan_read_range_pc(void *address, size_t size, void *pc) {
    read_range(address, size, pc);
}

EW_EXPORT void __tsan_write_range_pc(void *address, size_t size, void *pc) {
    write_range(address, size, pc);
}

// `x++` of a plain x, told once: another thread may still come between the two.
#define COMPOUND(size)                                                                             \
    EW_EXPORT void __tsan_read_write##size(void *p) {                                              \
        ew_access(EW_OP_LOAD, p, size, PC);                                                        \
        ew_access(EW_OP_STORE, p, size, PC);                                                       \
    }                                                                                              \
    EW_EXPORT void __tsan_unaligned_read_write##size(void *p) {                                    \
        ew_access(EW_OP_LOAD, p, size, PC);                                                        \
        ew_access(EW_OP_STORE, p, size, PC);                                                       \
    }
COMPOUND(1)
COMPOUND(2)
COMPOUND(4)
COMPOUND(8)
COMPOUND(16)
