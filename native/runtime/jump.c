// SPDX-License-Identifier: Apache-2.0
// What a jump takes back besides the registers: the shadow stack, the signal mask, and what the
// blocks that it leaves have begun.
#include "threads.h"

#include <setjmp.h>
#include <stddef.h>

// As jump.S lays it out; only sigsetjmp's own buffers have the mask.
struct buffer {
    uint64_t registers[8];
    int mask_was_saved;
    uint32_t depth; // of the shadow stack; padding in glibc's own layout
    uint64_t mask;
};
_Static_assert(offsetof(struct buffer, mask) == offsetof(struct __jmp_buf_tag, __saved_mask) &&
                   offsetof(struct buffer, depth) + 4 == sizeof(struct __cancel_jmp_buf_tag),
               "glibc's headers leave less room");

__attribute__((used)) int ew_jump_note(struct buffer *buffer, int save_mask) {
    buffer->mask_was_saved = save_mask != 0;
    buffer->depth = ew_self ? (uint32_t)(ew_frames - ew_self->frames_base) : 0;
    if (save_mask)
        buffer->mask = ew_self ? ew_self->life.mask : 0;
    return 0;
}

// --- what is done when a block is left

void ew_afterwards_begin(struct ew_afterwards *entry) {
    entry->outer = ew_self->life.afterwards;
    ew_self->life.afterwards = entry;
}

void ew_afterwards_end(struct ew_afterwards *entry) {
    ew_self->life.afterwards = entry->outer;
    entry->function(entry->argument);
}

static bool is_on_other_stack(uintptr_t address) {
    const struct ew_other_stack *stack = &ew_self->life.other_stack;
    return address - (uintptr_t)stack->lowest < stack->size;
}

// Handlers, which may have a stack of their own, are inside of what they interrupt.
static bool is_left(const struct ew_afterwards *entry, uintptr_t target) {
    bool other = is_on_other_stack((uintptr_t)entry);
    return other == is_on_other_stack(target) ? (uintptr_t)entry < target : other;
}

void ew_leave_blocks(uintptr_t target) {
    struct ew_afterwards **innermost = &ew_self->life.afterwards;
    while (*innermost && is_left(*innermost, target))
        ew_afterwards_end(*innermost);
}

_Noreturn void ew_jump_back(void *memory, int value) {
    struct buffer *buffer = memory;
    if (ew_self) {
        ew_leave_blocks(ew_jump_target(buffer->registers));
        ew_frames = ew_self->frames_base + buffer->depth;
    }
    ew_jump(buffer->registers, value);
}

static _Noreturn void jump(struct __jmp_buf_tag *tag, int value) {
    struct buffer *buffer = (struct buffer *)tag;
    if (buffer->mask_was_saved && ew_self)
        ew_mask_set(buffer->mask);
    ew_jump_back(buffer, value);
}

EW_EXPORT _Noreturn void longjmp(struct __jmp_buf_tag buffer[1], int value) {
    jump(buffer, value);
}

EW_EXPORT _Noreturn void _longjmp(struct __jmp_buf_tag buffer[1], int value) {
    jump(buffer, value);
}

EW_EXPORT _Noreturn void siglongjmp(struct __jmp_buf_tag buffer[1], int value) {
    jump(buffer, value);
}

EW_EXPORT _Noreturn void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value) {
    jump(buffer, value);
}
