/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are passed through and reported: first ew_reported_enter, then the function. */
#include "enter.inc"
        .text

#define HARMLESS(names, why)
#define REPORTED(name, what)                                                                       \
        .globl  name;                                                                              \
        .type   name, @function;                                                                   \
name:   mov     $__COUNTER__, %r11d;                                                               \
        jmp     enter;                                                                             \
        .size   name, . - name;

        .cfi_startproc
#include "libc_functions.h"
        .cfi_endproc

        ENTER   enter, ew_reported_enter

        .section .note.GNU-stack, "", @progbits
