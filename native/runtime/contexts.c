// SPDX-License-Identifier: Apache-2.0
// ucontext: coroutines inside a thread, each with a shadow stack of its own.
#include "stacks.h"
#include "threads.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

void ew_context_return(void); // ucontext.S

// Stands in the place that a processor's shadow stack has in ucontext_t.
struct note {
    uintptr_t *base, *next;
    uintptr_t check; // contexts of the kernel's, which handlers get, have something else here
};
static uintptr_t check_of(const struct note *note) {
    return (uintptr_t)note->base ^ (uintptr_t)note->next ^ 0x45697468657257u;
}

_Static_assert(sizeof(struct note) <= sizeof((ucontext_t){0}.__ssp), "does not fit");
_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == 40, "ucontext.S says so");
_Static_assert(offsetof(ucontext_t, uc_mcontext.fpregs) == 224, "ucontext.S says so");
_Static_assert(offsetof(ucontext_t, __fpregs_mem) == 424, "ucontext.S says so");

static void put_note(ucontext_t *context, uintptr_t *base, uintptr_t *next) {
    struct note note = {base, next, 0};
    note.check = check_of(&note);
    memcpy(context->__ssp, &note, sizeof note);
}

__attribute__((used)) int ew_context_note(ucontext_t *context) {
    if (!ew_self)
        return 0;
    memset(&context->uc_sigmask, 0, sizeof context->uc_sigmask);
    memcpy(&context->uc_sigmask, &ew_self->life.mask, sizeof ew_self->life.mask);
    put_note(context, ew_self->frames_base, ew_frames);
    return 0;
}

__attribute__((used)) void ew_context_enter(const ucontext_t *context) {
    uint64_t mask;
    if (!ew_self)
        return;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    struct note note;
    memcpy(&note, context->__ssp, sizeof note);
    if (ew_self->life.fiber_chosen) {
        ew_self->life.fiber_chosen = false; // the program has said where it goes
    } else if (note.check == check_of(&note)) {
        ew_self->frames_base = note.base;
        ew_frames = note.next;
    }
    ew_mask_set(mask);
}

__attribute__((used)) _Noreturn void ew_context_over(const ucontext_t *next) {
    if (next)
        setcontext(next);
    exit(0); // as glibc does, whichever thread it is
}

// --- shadows of stacks that the program made: kept as long as a stack at that place may be used

static struct shadow {
    uintptr_t stack;
    size_t size;
    uintptr_t *frames;
    struct shadow *next;
} *shadows;

static uintptr_t *shadow_of(uintptr_t stack, size_t size) {
    struct shadow *shadow = shadows;
    while (shadow && !(shadow->stack == stack && shadow->size >= size))
        shadow = shadow->next;
    if (!shadow) {
        shadow = ew_pages(sizeof *shadow + ew_frames_bytes(size));
        *shadow = (struct shadow){stack, size, (uintptr_t *)(shadow + 1), shadows};
        shadows = shadow;
    }
    return shadow->frames;
}

static const int registers[] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9};

EW_EXPORT void makecontext(ucontext_t *context, void (*function)(void), int count, ...) {
    uintptr_t stack = (uintptr_t)context->uc_stack.ss_sp;
    int beyond = count > 6 ? count - 6 : 0;
    uintptr_t top = (stack + context->uc_stack.ss_size - 8 * (size_t)beyond) & ~15ul;
    uintptr_t *sp = (uintptr_t *)top - 1;
    greg_t *to = context->uc_mcontext.gregs;
    *sp = (uintptr_t)ew_context_return + 1; // an unwinder looks one byte before
    to[REG_RSP] = (greg_t)sp;
    to[REG_RIP] = (greg_t)function;
    to[REG_RBX] = (greg_t)context->uc_link;
    to[REG_RBP] = 0;
    va_list arguments;
    va_start(arguments, count);
    for (int i = 0; i < count; i++) {
        greg_t value = va_arg(arguments, greg_t);
        if (i < 6)
            to[registers[i]] = value;
        else
            sp[1 + i - 6] = (uintptr_t)value;
    }
    va_end(arguments);
    uintptr_t *frames = shadow_of(stack, context->uc_stack.ss_size);
    put_note(context, frames, frames);
}
