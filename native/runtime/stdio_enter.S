/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of stdio: first ew_stdio_enter, then the function that it names, with the same
 * arguments. No signature is needed, so it does not matter that many take variable arguments.
 */
        .text

#define STDIO(name, stream, does)                                                                  \
        .globl  name;                                                                              \
        .type   name, @function;                                                                   \
name:   mov     $__COUNTER__, %r11d;                                                               \
        jmp     enter;                                                                             \
        .size   name, . - name;

        .cfi_startproc
#include "stdio_functions.h"
        .cfi_endproc

        .type   enter, @function
/* What a call may carry: six registers, al (how many vector registers), eight vector registers. */
enter:
        .cfi_startproc
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %r9
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdi
        .cfi_adjust_cfa_offset 8
        mov     %rsp, %rdi
        mov     %r11d, %esi
        sub     $128, %rsp
        .cfi_adjust_cfa_offset 128
        movaps  %xmm0, (%rsp)
        movaps  %xmm1, 16(%rsp)
        movaps  %xmm2, 32(%rsp)
        movaps  %xmm3, 48(%rsp)
        movaps  %xmm4, 64(%rsp)
        movaps  %xmm5, 80(%rsp)
        movaps  %xmm6, 96(%rsp)
        movaps  %xmm7, 112(%rsp)
        call    ew_stdio_enter
        mov     %rax, %r11
        movaps  (%rsp), %xmm0
        movaps  16(%rsp), %xmm1
        movaps  32(%rsp), %xmm2
        movaps  48(%rsp), %xmm3
        movaps  64(%rsp), %xmm4
        movaps  80(%rsp), %xmm5
        movaps  96(%rsp), %xmm6
        movaps  112(%rsp), %xmm7
        add     $128, %rsp
        .cfi_adjust_cfa_offset -128
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        jmp     *%r11
        .cfi_endproc
        .size   enter, . - enter

        .section .note.GNU-stack, "", @progbits
