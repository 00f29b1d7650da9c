// SPDX-License-Identifier: Apache-2.0
// Whose local variable an address on a stack is: the frame that it lies in ends with the next
// return address above it, and those that are live stand in the shadow stack.
#include "trace.h"

#define WORDS (1 << 13) // that a frame may have above the address
#define FRAMES 64       // at each end of a shadow stack that are looked at
#define THREADS 256     // with more of them, only the running one's stack is looked at

static uintptr_t first_end, lowest = UINTPTR_MAX, highest;

void ew_locals_stack(uintptr_t low, uintptr_t high, bool first) {
    first_end = first ? high : first_end;
    lowest = low < lowest ? low : lowest;
    highest = high > highest ? high : highest;
}

static uintptr_t end_of_stack(const struct ew_thread *thread) {
    return thread->life.first ? first_end : (uintptr_t)thread->stack + thread->stack_size;
}

static bool is_on_stack(const struct ew_thread *thread, uintptr_t address) {
    uintptr_t end = end_of_stack(thread);
    return address < end && address >= end - thread->stack_size;
}

uintptr_t ew_stack_end(uintptr_t sp) {
    return is_on_stack(ew_self, sp) ? end_of_stack(ew_self) : 0;
}

static const struct ew_thread *owner_of(uintptr_t address) {
    if (address < lowest || address >= highest)
        return NULL;
    if (is_on_stack(ew_self, address))
        return ew_self;
    uint32_t count = ew_thread_count();
    for (uint32_t i = 0; count <= THREADS && i < count; i++)
        if (is_on_stack(ew_thread_at(i), address))
            return ew_thread_at(i);
    return NULL;
}

struct shadow {
    const uintptr_t *frames;
    size_t depth;
};

// The frame whose return address this is, or `depth`: the innermost ones first.
static size_t frame_of(const struct shadow *shadow, uintptr_t word) {
    size_t depth = shadow->depth;
    for (size_t i = depth; i-- && depth - i <= FRAMES;)
        if (shadow->frames[i] == word)
            return i;
    for (size_t i = 0; i + FRAMES < depth && i < FRAMES; i++)
        if (shadow->frames[i] == word)
            return i;
    return depth;
}

bool ew_local_at(uintptr_t address, struct ew_thread_local *result) {
    const struct ew_thread *owner = owner_of(address);
    if (!owner)
        return false;
    const uintptr_t *top = owner == ew_self ? ew_frames : owner->frames;
    struct shadow shadow = {owner->frames_base, (size_t)(top - owner->frames_base)};
    const uintptr_t *word = (const uintptr_t *)((address + 7) & ~7ul);
    const uintptr_t *end = (const uintptr_t *)end_of_stack(owner);
    for (int count = 0; word < end && count < WORDS; word++, count++) {
        size_t frame = *word ? frame_of(&shadow, *word) : shadow.depth;
        if (frame == shadow.depth)
            continue;
        result->site = ew_site_of(shadow.frames, frame + 1);
        result->below = (uintptr_t)(word + 1) - address;
        return true;
    }
    return false;
}
