// SPDX-License-Identifier: Apache-2.0
// Stacks that threads run on, each with its shadow of return addresses.
#include "stacks.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGE 4096ul

static size_t pages(size_t size) {
    return (size + PAGE - 1) & ~(PAGE - 1);
}

// A call takes at least a return address and its alignment of the stack, and one entry here: the
// stack ends before this does.
size_t ew_frames_bytes(size_t stack_size) {
    return pages(stack_size / 16 * sizeof(uintptr_t)) + PAGE;
}

static size_t default_size(void) {
    pthread_attr_t defaults;
    size_t size = 8ul << 20;
    if (pthread_getattr_default_np(&defaults) == 0) {
        pthread_attr_getstacksize(&defaults, &size);
        pthread_attr_destroy(&defaults);
    }
    return size;
}

// The stack that the program has given for the thread, or NULL.
static void *given_stack(const pthread_attr_t *attributes, size_t *size) {
    void *lowest;
    if (!attributes || pthread_attr_getstack(attributes, &lowest, size) != 0)
        return NULL;
    return (uintptr_t)lowest + *size ? lowest : NULL; // glibc keeps the upper end
}

static void *reserve(size_t size) {
    long address = raw6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return address < 0 ? NULL : (void *)address;
}

static int use_given(struct ew_thread *thread, void *stack, size_t size) {
    thread->stack = stack;
    thread->stack_size = size;
    thread->owns_stack = false;
    thread->frames = thread->frames_base = reserve(ew_frames_bytes(size));
    thread->life.memory = thread->life.frames = thread->frames_base;
    thread->life.memory_size = ew_frames_bytes(size);
    return thread->frames_base ? 0 : EAGAIN;
}

// One mapping: shadow, guard, stack.
int ew_stack_create(struct ew_thread *thread, const pthread_attr_t *attributes) {
    size_t size = 0, guard = PAGE;
    void *given = given_stack(attributes, &size);
    if (given)
        return use_given(thread, given, size);
    if (attributes)
        pthread_attr_getguardsize(attributes, &guard);
    size = pages(size ? size : default_size());
    guard = pages(guard);
    size_t shadow = ew_frames_bytes(size);
    if (shadow + guard + size < size)
        return EAGAIN;
    char *memory = reserve(shadow + guard + size);
    if (!memory)
        return EAGAIN;
    if (guard)
        raw3(SYS_mprotect, (long)(memory + shadow), (long)guard, PROT_NONE);
    thread->life.memory = memory;
    thread->life.memory_size = shadow + guard + size;
    thread->life.guard = guard;
    thread->frames = thread->frames_base = thread->life.frames = (uintptr_t *)memory;
    thread->stack = memory + shadow + guard;
    thread->stack_size = size;
    thread->owns_stack = true;
    return 0;
}

void ew_stack_destroy(struct ew_thread *thread) {
    raw3(SYS_munmap, (long)thread->life.memory, (long)thread->life.memory_size, 0);
    thread->stack = NULL;
    thread->frames_base = NULL;
}

static size_t first_stack_limit(void) {
    struct {
        uint64_t soft, hard;
    } limit;
    long error = raw6(SYS_prlimit64, 0, 3 /* RLIMIT_STACK */, 0, (long)&limit, 0, 0);
    return error < 0 || limit.soft > (1ull << 32) ? 1ul << 32 : limit.soft;
}

// The first thread's stack grows up to its limit, which may be none.
void ew_stack_of_first(struct ew_thread *first) {
    first->stack_size = first_stack_limit();
    first->life.memory_size = ew_frames_bytes(first->stack_size);
    first->life.memory = ew_pages(first->life.memory_size);
    first->frames = first->frames_base = first->life.frames = first->life.memory;
}
