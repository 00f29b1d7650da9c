// SPDX-License-Identifier: Apache-2.0
// The note that says what a binary is. `eitherway cc` fills it in after the link, in place; as it
// stands here, all zero but for the layout's number, it says "not measured". The fields are laid
// out in src/eitherway/worlds/threads/note.py, which raises the number when they change.
        .section .note.eitherway, "a", @note
        .balign 4
        .long   2f - 1f
        .long   4f - 3f
        .long   1                       // the type: build facts
1:      .asciz  "EitherWay"
2:      .balign 4
3:      .long   1                       // the layout
        .zero   508
4:
        .section .note.GNU-stack, "", @progbits
