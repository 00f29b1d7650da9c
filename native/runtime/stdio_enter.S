/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of stdio: first ew_stdio_enter, then the function that it names. */
#include "enter.inc"
        .text

#define STDIO(name, stream, does)                                                                  \
        .globl  name;                                                                              \
        .type   name, @function;                                                                   \
name:   mov     $__COUNTER__, %r11d;                                                               \
        jmp     enter;                                                                             \
        .size   name, . - name;

#define STDIO_BEHIND(name, stream, does)                                                           \
        .globl  ew_enter_##name;                                                                   \
        .hidden ew_enter_##name;                                                                   \
        .type   ew_enter_##name, @function;                                                        \
ew_enter_##name:                                                                                   \
        mov     $__COUNTER__, %r11d;                                                               \
        jmp     enter;                                                                             \
        .size   ew_enter_##name, . - ew_enter_##name;

        .cfi_startproc
#include "stdio_functions.h"
        .cfi_endproc

        ENTER   enter, ew_stdio_enter

        .section .note.GNU-stack, "", @progbits
