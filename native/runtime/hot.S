// SPDX-License-Identifier: Apache-2.0
// What the hooks need at every access, side by side: code that was compiled with hooks.s reaches
// them by one name. When the layout changes, so does the number in the name, here and there.
    .data
    .balign 64
    .globl __eitherway_hot_1, ew_accesses_left, ew_frames, ew_current
    .hidden ew_accesses_left, ew_frames, ew_current
    .type __eitherway_hot_1, @object
    .size __eitherway_hot_1, 20
__eitherway_hot_1:
    .type ew_accesses_left, @object
    .size ew_accesses_left, 8
ew_accesses_left: // until there is a shadow, no hook looks at it
    .quad -0x4000000000000000
    .type ew_frames, @object
    .size ew_frames, 8
ew_frames:
    .quad ew_frames_before_start
    .type ew_current, @object
    .size ew_current, 4
ew_current:
    .long 0

    .section .note.GNU-stack, "", @progbits
