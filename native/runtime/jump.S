/* SPDX-License-Identifier: Apache-2.0 */
/* setjmp and longjmp, for the sake of what a jump has to take back besides the registers.
 *
 * The buffer is laid out as glibc's, whose headers say how much room there is:
 *     rbx rbp* r12 r13 r14 r15 rsp* rip* | mask was saved (4) | depth of the shadow stack (4) | mask
 * where * is mangled with the guard at fs:0x30. A cleanup handler's buffer has no room for a mask.
 */

        .macro  FUNCTION name
        .globl  \name
        .type   \name, @function
\name:  .cfi_startproc
        .endm
        .macro  END name
        .cfi_endproc
        .size   \name, . - \name
        .endm
        .macro  MANGLE register
        xor     %fs:0x30, \register
        rol     $17, \register
        .endm
        .macro  DEMANGLE register
        ror     $17, \register
        xor     %fs:0x30, \register
        .endm

        .text
FUNCTION setjmp
        mov     $1, %esi
        jmp     __sigsetjmp
END     setjmp

FUNCTION _setjmp
        xor     %esi, %esi
        jmp     __sigsetjmp
END     _setjmp

/* int __sigsetjmp(buffer, int save_mask) */
FUNCTION __sigsetjmp
        mov     %rbx, (%rdi)
        mov     %rbp, %rax
        MANGLE  %rax
        mov     %rax, 8(%rdi)
        mov     %r12, 16(%rdi)
        mov     %r13, 24(%rdi)
        mov     %r14, 32(%rdi)
        mov     %r15, 40(%rdi)
        lea     8(%rsp), %rax
        MANGLE  %rax
        mov     %rax, 48(%rdi)
        mov     (%rsp), %rax
        MANGLE  %rax
        mov     %rax, 56(%rdi)
        jmp     ew_jump_note
END     __sigsetjmp

        .hidden ew_jump_note
        .hidden ew_jump
        .hidden ew_jump_target
        .hidden ew_restart
        .hidden ew_call_on

/* _Noreturn void ew_jump(const void *registers, int value) */
FUNCTION ew_jump
        mov     %esi, %eax
        test    %eax, %eax
        jnz     1f
        inc     %eax
1:      mov     8(%rdi), %rbp
        mov     48(%rdi), %rcx
        mov     56(%rdi), %rdx
        DEMANGLE %rbp
        DEMANGLE %rcx
        DEMANGLE %rdx
        mov     (%rdi), %rbx
        mov     16(%rdi), %r12
        mov     24(%rdi), %r13
        mov     32(%rdi), %r14
        mov     40(%rdi), %r15
        mov     %rcx, %rsp
        jmp     *%rdx
END     ew_jump

/* uintptr_t ew_jump_target(const void *registers) */
FUNCTION ew_jump_target
        mov     48(%rdi), %rax
        DEMANGLE %rax
        ret
END     ew_jump_target

/* _Noreturn void ew_restart(void *stack_top, void (*function)(void)): unwinders stop here. */
FUNCTION ew_restart
        .cfi_undefined rip
        mov     %rdi, %rsp
        xor     %ebp, %ebp
        call    *%rsi
        hlt
END     ew_restart

/* void ew_call_on(void *stack_top, handler, int signal, siginfo_t *, void *context) */
FUNCTION ew_call_on
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        mov     %rdi, %rsp
        and     $-16, %rsp
        mov     %rsi, %rax
        mov     %edx, %edi
        mov     %rcx, %rsi
        mov     %r8, %rdx
        call    *%rax
        mov     %rbp, %rsp
        pop     %rbp
        .cfi_def_cfa rsp, 8
        ret
END     ew_call_on

        .section .note.GNU-stack, "", @progbits
