/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that touch the program's memory: first ew_touching_enter, then the function itself. */
#include "enter.inc"
        .text

#define TOUCHES(name, what)                                                                        \
        .globl  ew_takes_##name;                                                                   \
        .type   ew_takes_##name, @function;                                                        \
ew_takes_##name:                                                                                   \
        mov     $__COUNTER__, %r11d;                                                               \
        jmp     enter;                                                                             \
        .size   ew_takes_##name, . - ew_takes_##name;

        .cfi_startproc
#include "touching.h"
        .cfi_endproc

        ENTER   enter, ew_touching_enter

        .section .note.GNU-stack, "", @progbits
