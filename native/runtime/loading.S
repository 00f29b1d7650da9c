/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen and dlmopen, called so that they take their caller for ours: see loading.c. */

        .hidden ew_loading_enter
        .hidden ew_loading_leave
        .hidden ew_real_dlopen
        .hidden ew_real_dlmopen

/* The stack on which the real one is entered:
 *     sp -> a return instruction in the caller's library | 1f | the caller's return address
 */
        .macro  LOAD name, real
        .globl  \name
        .type   \name, @function
\name:  .cfi_startproc
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        mov     24(%rsp), %rdi
        call    ew_loading_enter
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        lea     1f(%rip), %rcx
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %rax
        .cfi_adjust_cfa_offset 8
        jmp     *\real(%rip)
        .cfi_adjust_cfa_offset -16
1:      push    %rax
        .cfi_adjust_cfa_offset 8
        call    ew_loading_leave
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
        LOAD    dlopen, ew_real_dlopen
        LOAD    dlmopen, ew_real_dlmopen

        .section .note.GNU-stack, "", @progbits
