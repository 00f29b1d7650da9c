/* SPDX-License-Identifier: Apache-2.0 */
/* The two functions that clean-up code of ours needs, found when they are first needed: linked to,
 * they would bring the unwinder's library into every C program. They jump on, so that the unwinder
 * sees the frame that called. */

        .text
        .macro  FORWARD name, real
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        lea     1f(%rip), %rdi
        call    ew_unwinder
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   \name, . - \name
        .section .rodata
1:      .asciz  "\real"
        .text
        .endm

        FORWARD ew_unwind_resume, _Unwind_Resume
        FORWARD ew_personality, __gcc_personality_v0

        .section .note.GNU-stack, "", @progbits
