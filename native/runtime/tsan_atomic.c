// SPDX-License-Identifier: Apache-2.0
// The compiler's calls instead of each atomic operation: they are performed here.
//
// With one carrier an operation is indivisible because nothing else runs. It is still done with
// real atomics: the memory may be shared with other processes.
#include "runtime.h"

static inline void tell(unsigned op, const volatile void *address, size_t size, const void *pc,
                        int order) {
    if (UNLIKELY(ew_watched))
        ew_tell_atomic(op, (const void *)address, size, pc, order);
}

#define POINT(op, a, order)                                                                        \
    (ew_point_at(EW_WHY_ATOMIC, op, a, sizeof *(a)), tell(op, a, sizeof *(a), PC, order))

// Whether it will exchange is known only when nobody can come between.
#define POINT_IF(a, expected, order, fail)                                                         \
    do {                                                                                           \
        bool will = __atomic_load_n(a, __ATOMIC_SEQ_CST) == (expected);                            \
        ew_point_at(EW_WHY_ATOMIC, will ? EW_OP_UPDATE : EW_OP_LOAD, a, sizeof *(a));              \
        will = __atomic_load_n(a, __ATOMIC_SEQ_CST) == (expected);                                 \
        tell(will ? EW_OP_UPDATE : EW_OP_LOAD, a, sizeof *(a), PC, will ? (order) : (fail));       \
    } while (0)

#define FETCH(bits, T, name, builtin)                                                              \
    EW_EXPORT T __tsan_atomic##bits##_fetch_##name(volatile T *a, T value, int order) {            \
        POINT(EW_OP_UPDATE, a, order);                                                             \
        return builtin(a, value, __ATOMIC_SEQ_CST);                                                \
    }

#define EXCHANGE_IF(bits, T, strength)                                                             \
    EW_EXPORT int __tsan_atomic##bits##_compare_exchange_##strength(                               \
        volatile T *a, T *expected, T value, int order, int fail) {                                \
        POINT_IF(a, *expected, order, fail);                                                       \
        return __atomic_compare_exchange_n(a, expected, value, 0, __ATOMIC_SEQ_CST,                \
                                           __ATOMIC_SEQ_CST);                                      \
    }

#define ATOMICS(bits, T)                                                                           \
    EW_EXPORT T __tsan_atomic##bits##_load(const volatile T *a, int order) {                       \
        POINT(EW_OP_LOAD, a, order);                                                               \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    EW_EXPORT void __tsan_atomic##bits##_store(volatile T *a, T value, int order) {                \
        POINT(EW_OP_STORE, a, order);                                                              \
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    EW_EXPORT T __tsan_atomic##bits##_exchange(volatile T *a, T value, int order) {                \
        POINT(EW_OP_UPDATE, a, order);                                                             \
        return __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    FETCH(bits, T, add, __atomic_fetch_add)                                                        \
    FETCH(bits, T, sub, __atomic_fetch_sub)                                                        \
    FETCH(bits, T, and, __atomic_fetch_and)                                                        \
    FETCH(bits, T, or, __atomic_fetch_or)                                                          \
    FETCH(bits, T, xor, __atomic_fetch_xor)                                                        \
    FETCH(bits, T, nand, __atomic_fetch_nand)                                                      \
    EXCHANGE_IF(bits, T, strong)                                                                   \
    EXCHANGE_IF(bits, T, weak)                                                                     \
    EW_EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T *a, T expected, T value,     \
                                                           int order, int fail) {                  \
        POINT_IF(a, expected, order, fail);                                                        \
        __atomic_compare_exchange_n(a, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
        return expected;                                                                           \
    }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

EW_EXPORT void __tsan_atomic_thread_fence(int order) {
    ew_point(EW_WHY_ATOMIC);
    if (UNLIKELY(ew_watched))
        ew_tell_fence(order, PC);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

EW_EXPORT void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
