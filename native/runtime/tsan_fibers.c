// SPDX-License-Identifier: Apache-2.0
// Stacks that the program switches by itself and says so: __tsan_switch_to_fiber.
//
// Each has a shadow stack of its own. In a trace its operations are those of the thread that runs
// it; the thread that goes on with it later follows the one that left it.
#include "stacks.h"
#include "tsan_annotations.h"

#define STACK_SIZE ((size_t)8 << 20) // of the program's stack, which we are not told; reserved only

struct fiber {
    uintptr_t *base, *next;            // of its shadow stack, while it does not run
    const struct ew_thread *of_thread; // the stack that a thread began with; NULL: made by create
    struct fiber *next_fiber;
};

static struct fiber *fibers, *spare;

static struct fiber *fiber_create(void) {
    if (!spare) {
        spare = ew_pages(sizeof *spare + ew_frames_bytes(STACK_SIZE));
        spare->base = (uintptr_t *)(spare + 1);
    }
    struct fiber *fiber = spare;
    spare = fiber->next_fiber;
    fiber->next = fiber->base;
    fiber->of_thread = NULL;
    fiber->next_fiber = fibers;
    fibers = fiber;
    return fiber;
}

static void fiber_destroy(struct fiber *fiber) {
    struct fiber **at = &fibers;
    while (*at && *at != fiber)
        at = &(*at)->next_fiber;
    if (!*at)
        return;
    *at = fiber->next_fiber;
    fiber->next_fiber = spare;
    spare = fiber;
}

// Which one runs is known by its shadow stack.
static struct fiber *current(void) {
    for (struct fiber *fiber = fibers; fiber; fiber = fiber->next_fiber)
        if (fiber->base == ew_self->frames_base)
            return fiber;
    struct fiber *own = ew_pages(sizeof *own);
    *own = (struct fiber){ew_self->frames_base, ew_frames, ew_self, fibers};
    return fibers = own;
}

EW_EXPORT void *__tsan_get_current_fiber(void) {
    return current();
}

EW_EXPORT void *__tsan_create_fiber(unsigned flags) {
    (void)flags;
    return fiber_create();
}

EW_EXPORT void __tsan_destroy_fiber(void *fiber) {
    if (fiber && !((struct fiber *)fiber)->of_thread)
        fiber_destroy(fiber);
}

EW_EXPORT void __tsan_set_fiber_name(void *fiber, const char *name) {
    (void)fiber; // actors are threads, which have names of their own
    (void)name;
}

// Called just before the switch, and never returns as far as the shadow is concerned. That the two
// are not ordered (a flag) cannot be: they run on one thread.
EW_EXPORT void __tsan_switch_to_fiber(void *to, unsigned flags) {
    struct fiber *from = current(), *fiber = to;
    (void)flags;
    ew_annotate_release(from, PC);
    from->next = ew_frames;
    ew_self->frames_base = fiber->base;
    ew_frames = fiber->next;
    ew_self->life.fiber_chosen = true;
    ew_annotate_acquire(fiber, PC);
}
