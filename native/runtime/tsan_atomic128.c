// SPDX-License-Identifier: Apache-2.0
// The compiler's calls instead of atomic operations on 16 bytes.
//
// With one carrier a copy would do, but the memory may be shared with other processes: it is the
// processor's instruction where there is one, which is everywhere but on the first x86-64.
#include "runtime.h"

#include <cpuid.h>

typedef unsigned __int128 u128;

static bool has_cx16, has_avx, known; // AVX promises that an aligned load of 16 bytes is one

static void know_processor(void) {
    unsigned a, b, c = 0, d;
    known = true;
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        has_cx16 = c & bit_CMPXCHG16B;
        has_avx = c & bit_AVX;
    }
}

// Whether it was `expected`; if not, that is what it was.
static bool exchange_if(volatile u128 *a, u128 *expected, u128 value) {
    bool done;
    uint64_t low = (uint64_t)*expected, high = (uint64_t)(*expected >> 64);
    if (UNLIKELY(!has_cx16)) {
        u128 old = *a;
        done = old == *expected;
        *a = done ? value : old;
        *expected = old;
        return done;
    }
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*a), "+a"(low), "+d"(high)
                     : "b"((uint64_t)value), "c"((uint64_t)(value >> 64))
                     : "memory");
    *expected = (u128)high << 64 | low;
    return done;
}

// What is not there to be written must not be: an exchange stores even when it only compares.
static u128 load(const volatile u128 *a) {
    u128 value = 0;
    if (UNLIKELY(!known))
        know_processor();
    if (UNLIKELY(!has_avx)) {
        exchange_if((volatile u128 *)a, &value, 0);
        return value;
    }
    __asm__ volatile("movaps %1, %%xmm0\n\tmovaps %%xmm0, %0" : "=m"(value) : "m"(*a) : "xmm0");
    return value;
}

enum rmw { EXCHANGE, ADD, SUB, AND, OR, XOR, NAND };

static u128 apply(enum rmw rmw, u128 old, u128 value) {
    switch (rmw) {
    case ADD:
        return old + value;
    case SUB:
        return old - value;
    case AND:
        return old & value;
    case OR:
        return old | value;
    case XOR:
        return old ^ value;
    case NAND:
        return ~(old & value);
    default:
        return value;
    }
}

static void tell(unsigned op, const volatile void *a, const void *pc, int order) {
    if (UNLIKELY(ew_watched))
        ew_tell_atomic(op, (const void *)a, sizeof(u128), pc, order);
}

static u128 update(enum rmw rmw, volatile u128 *a, u128 value) {
    u128 old = load(a);
    while (!exchange_if(a, &old, apply(rmw, old, value)))
        ;
    return old;
}

static bool compare_exchange(volatile u128 *a, u128 *expected, u128 value, int order, int fail,
                             const void *pc) {
    ew_point_at(EW_WHY_ATOMIC, EW_OP_UPDATE, a, sizeof *a);
    bool will = load(a) == *expected;
    tell(will ? EW_OP_UPDATE : EW_OP_LOAD, a, pc, will ? order : fail);
    return exchange_if(a, expected, value);
}

EW_EXPORT u128 __tsan_atomic128_load(const volatile u128 *a, int order) {
    ew_point_at(EW_WHY_ATOMIC, EW_OP_LOAD, a, sizeof *a);
    tell(EW_OP_LOAD, a, PC, order);
    return load(a);
}

EW_EXPORT void __tsan_atomic128_store(volatile u128 *a, u128 value, int order) {
    ew_point_at(EW_WHY_ATOMIC, EW_OP_STORE, a, sizeof *a);
    tell(EW_OP_STORE, a, PC, order);
    update(EXCHANGE, a, value);
}

#define RMW(name, rmw)                                                                             \
    EW_EXPORT u128 __tsan_atomic128_##name(volatile u128 *a, u128 value, int order) {              \
        ew_point_at(EW_WHY_ATOMIC, EW_OP_UPDATE, a, sizeof *a);                                    \
        tell(EW_OP_UPDATE, a, PC, order);                                                          \
        return update(rmw, a, value);                                                              \
    }
RMW(exchange, EXCHANGE)
RMW(fetch_add, ADD)
RMW(fetch_sub, SUB)
RMW(fetch_and, AND)
RMW(fetch_or, OR)
RMW(fetch_xor, XOR)
RMW(fetch_nand, NAND)

EW_EXPORT int __tsan_atomic128_compare_exchange_strong(volatile u128 *a, u128 *expected, u128 value,
                                                       int order, int fail) {
    return compare_exchange(a, expected, value, order, fail, PC);
}

EW_EXPORT int __tsan_atomic128_compare_exchange_weak(volatile u128 *a, u128 *expected, u128 value,
                                                     int order, int fail) {
    return compare_exchange(a, expected, value, order, fail, PC);
}

EW_EXPORT u128 __tsan_atomic128_compare_exchange_val(volatile u128 *a, u128 expected, u128 value,
                                                     int order, int fail) {
    compare_exchange(a, &expected, value, order, fail, PC);
    return expected;
}
