// SPDX-License-Identifier: Apache-2.0
// Stacks that threads run on, each with its shadow of return addresses.
#include "stacks.h"
#include "shadow.h"

#include <dlfcn.h>
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

static size_t default_size;

static void ask_default_size(void) {
    pthread_attr_t defaults;
    default_size = 8ul << 20;
    if (pthread_getattr_default_np(&defaults) == 0) {
        pthread_attr_getstacksize(&defaults, &default_size);
        pthread_attr_destroy(&defaults);
    }
    default_size = pages(default_size);
}

EW_EXPORT int pthread_setattr_default_np(const pthread_attr_t *attributes) {
    static int (*real)(const pthread_attr_t *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_setattr_default_np");
    int error = real(attributes);
    ask_default_size();
    return error;
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

// --- stacks of the usual size serve again, as glibc's do

// Listed outside of themselves: a mapping that nobody has touched costs a fork next to nothing.
#define SPARES_MAX 64
static char *spares[SPARES_MAX];
static size_t spare_size; // of each mapping
static uint32_t spare_count;
#define USUAL_GUARD PAGE

// One mapping: guard, stack, shadow. The last two meet in the middle of a page: most threads use
// little of either, and each page costs a forked run a copy.
#define MEETING (PAGE / 2)

static size_t usual_mapping(void) {
    return USUAL_GUARD + default_size + ew_frames_bytes(default_size);
}

static void unmap(char *memory, size_t size) {
    raw3(SYS_munmap, (long)memory, (long)size, 0);
}

// The program may have changed what is usual.
static void drop_unusual(void) {
    while (spare_size != usual_mapping() && spare_count)
        unmap(spares[--spare_count], spare_size);
    spare_size = usual_mapping();
}

static void keep_spare(char *memory) {
    drop_unusual();
    if (spare_count < SPARES_MAX)
        spares[spare_count++] = memory;
    else
        unmap(memory, spare_size);
}

static char *take_spare(void) {
    drop_unusual();
    return spare_count ? spares[--spare_count] : NULL;
}

// The kernel has a limit on mappings. A thread that would take the last is not created: without
// one, neither we nor the program could go on.
static bool is_room_left(void) {
    long page = raw6(SYS_mmap, 0, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page >= 0 || page <= -4096)
        unmap((char *)page, PAGE);
    return page >= 0 || page <= -4096;
}

static char *map_stack(size_t size, size_t guard) {
    char *memory = reserve(guard + size + ew_frames_bytes(size));
    if (!memory)
        return NULL;
    long error = guard ? raw3(SYS_mprotect, (long)memory, (long)guard, PROT_NONE) : 0;
    if (!error && is_room_left())
        return memory;
    unmap(memory, guard + size + ew_frames_bytes(size));
    return NULL;
}

void ew_stacks_prepare(uint32_t count) {
    count = count < SPARES_MAX ? count : SPARES_MAX;
    for (char *memory; count-- && (memory = map_stack(default_size, USUAL_GUARD));)
        keep_spare(memory);
}

int ew_stack_create(struct ew_thread *thread, const pthread_attr_t *attributes) {
    size_t size = 0, guard = PAGE;
    void *given = given_stack(attributes, &size);
    if (given)
        return use_given(thread, given, size);
    if (attributes)
        pthread_attr_getguardsize(attributes, &guard);
    size = size ? pages(size) : default_size;
    guard = pages(guard);
    if (guard + size + ew_frames_bytes(size) < size)
        return EAGAIN;
    char *memory = size == default_size && guard == USUAL_GUARD ? take_spare() : NULL;
    if (!memory)
        memory = map_stack(size, guard);
    if (!memory)
        return EAGAIN;
    thread->life.memory = memory;
    thread->life.memory_size = guard + size + ew_frames_bytes(size);
    thread->life.guard = guard;
    thread->stack = memory + guard + MEETING;
    thread->frames = thread->frames_base = thread->life.frames =
        (uintptr_t *)(thread->stack + size);
    thread->stack_size = size;
    thread->owns_stack = true;
    if (ew_detecting)
        ew_shadow_fresh((uintptr_t)thread->stack, size, false);
    return 0;
}

void ew_stack_destroy(struct ew_thread *thread) {
    bool usual = thread->owns_stack && thread->life.guard == USUAL_GUARD &&
                 thread->life.memory_size == usual_mapping();
    if (usual)
        keep_spare(thread->life.memory);
    else
        unmap(thread->life.memory, thread->life.memory_size);
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
    ask_default_size();
    first->stack_size = first_stack_limit();
    first->life.memory_size = ew_frames_bytes(first->stack_size);
    first->life.memory = ew_pages(first->life.memory_size);
    first->frames = first->frames_base = first->life.frames = first->life.memory;
}
