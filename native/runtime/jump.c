// SPDX-License-Identifier: Apache-2.0
// What a jump takes back besides the registers: the shadow stack and the signal mask.
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

_Noreturn void ew_jump_back(void *memory, int value) {
    struct buffer *buffer = memory;
    if (ew_self)
        ew_frames = ew_self->frames_base + buffer->depth;
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
