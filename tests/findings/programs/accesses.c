/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the calls that -fsanitize=thread inserts: prints the stack of each access to what is
   watched, as `NAME OP SIZE ADDRESS ADDRESS ...`, innermost first. */
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>

static struct {
    const char *name;
    uintptr_t from, size;
} watched[8];
static int watching;

void watch(const char *name, void *from, unsigned long size) {
    watched[watching].name = name;
    watched[watching].from = (uintptr_t)from;
    watched[watching++].size = size;
}

void elsewhere(void) {}

static __attribute__((noinline)) void accessed(void *address, const char *op, unsigned size) {
    for (int i = 0; i < watching; i++) {
        if ((uintptr_t)address - watched[i].from >= watched[i].size)
            continue;
        void *stack[32];
        int depth = backtrace(stack, 32);
        printf("%s %s %u", watched[i].name, op, size);
        for (int frame = 2; frame < depth; frame++) /* past `accessed` and the hook */
            printf(" %p",
                   (void *)((char *)stack[frame] - 1)); /* the call, not what comes after it */
        putchar('\n');
    }
}

#define HOOK(name, op, size)                                                                       \
    __attribute__((noinline)) void __tsan_##name(void *address) {                                  \
        accessed(address, op, size);                                                               \
        __asm__ volatile(""); /* no tail call: the hook must have a frame */                       \
    }
#define HOOKS(size) HOOK(read##size, "read", size) HOOK(write##size, "write", size)
#define UNALIGNED(size)                                                                            \
    HOOK(unaligned_read##size, "read", size) HOOK(unaligned_write##size, "write", size)
#define COMPOUND(size)                                                                             \
    HOOK(read_write##size, "update", size) HOOK(unaligned_read_write##size, "update", size)
// clang-format off: without semicolons it lays these out anew each time
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
UNALIGNED(2) UNALIGNED(4) UNALIGNED(8) UNALIGNED(16)
COMPOUND(1) COMPOUND(2) COMPOUND(4) COMPOUND(8) COMPOUND(16)
// clang-format on

#define RANGE(name, op)                                                                            \
    __attribute__((noinline)) void __tsan_##name##_range(void *address, unsigned long size) {      \
        accessed(address, op, (unsigned)size);                                                     \
        __asm__ volatile("");                                                                      \
    }
        RANGE(read, "read") RANGE(write, "write")

            void __tsan_init(void) {
}
void __tsan_func_entry(void *caller) {
    (void)caller;
}
void __tsan_func_exit(void) {}
void __tsan_vptr_read(void **address) {
    (void)address;
}
void __tsan_vptr_update(void **address, void *value) {
    (void)address, (void)value;
}

void *__tsan_memset(void *to, int value, unsigned long size) {
    accessed(to, "write", (unsigned)size);
    return __builtin_memset(to, value, size);
}
void *__tsan_memcpy(void *to, const void *from, unsigned long size) {
    accessed(to, "write", (unsigned)size);
    return __builtin_memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, unsigned long size) {
    accessed(to, "write", (unsigned)size);
    return __builtin_memmove(to, from, size);
}
