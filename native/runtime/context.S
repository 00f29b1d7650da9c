/* SPDX-License-Identifier: Apache-2.0 */
/* Switching between green threads: what a function call must keep, and the thread pointer. */

        .text
        .globl  ew_switch
        .hidden ew_switch
        .type   ew_switch, @function
/* void ew_switch(void **save_sp, void *load_sp, uint64_t load_fs, uint32_t selector)
 *
 * The frame that stands on the stack of a thread that is not running:
 *     sp -> mxcsr (4) | x87 control word (4) | r15 r14 r13 r12 rbx rbp | return address
 *
 * The thread pointer comes first: wrfsbase waits for what is under way, and so does what is behind
 * it, but nothing waits for that. selectors.c says what a selector is good for.
 */
ew_switch:
        .cfi_startproc
        test    %ecx, %ecx
        je      5f
        mov     %ecx, %fs
2:      push    %rbp
        push    %rbx
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        sub     $8, %rsp
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        mov     (%rsp), %r8d
        mov     4(%rsp), %r9w
        mov     %rsp, (%rdi)
        mov     %rsi, %rsp
        cmp     (%rsp), %r8d    /* loading them takes long, and they hardly ever differ */
        jne     3f
        cmp     4(%rsp), %r9w
        jne     3f
4:      add     $8, %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbx
        pop     %rbp
        ret
5:      cmpb    $0, ew_has_fsgsbase(%rip)
        je      1f
        wrfsbase %rdx
        jmp     2b
1:      push    %rdi
        push    %rsi
        mov     $158, %eax      /* arch_prctl(ARCH_SET_FS, load_fs) */
        mov     $0x1002, %edi
        mov     %rdx, %rsi
        syscall
        pop     %rsi
        pop     %rdi
        jmp     2b
3:      ldmxcsr (%rsp)
        fldcw   4(%rsp)
        jmp     4b
        .cfi_endproc
        .size   ew_switch, . - ew_switch

        .globl  ew_with_registers
        .hidden ew_with_registers
        .type   ew_with_registers, @function
/* void ew_with_registers(void (*function)(const char *sp)) */
ew_with_registers:
        .cfi_startproc
        push    %rbp
        .cfi_adjust_cfa_offset 8
        push    %rbx
        .cfi_adjust_cfa_offset 8
        push    %r12
        .cfi_adjust_cfa_offset 8
        push    %r13
        .cfi_adjust_cfa_offset 8
        push    %r14
        .cfi_adjust_cfa_offset 8
        push    %r15
        .cfi_adjust_cfa_offset 8
        mov     %rdi, %rax
        mov     %rsp, %rdi
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    *%rax
        add     $56, %rsp       /* the function has kept them */
        .cfi_adjust_cfa_offset -56
        ret
        .cfi_endproc
        .size   ew_with_registers, . - ew_with_registers

        .globl  ew_thread_start
        .hidden ew_thread_start
        .type   ew_thread_start, @function
/* The return address in a new thread's first frame. No return address of its own: unwinders stop. */
ew_thread_start:
        .cfi_startproc
        .cfi_undefined rip
        xor     %ebp, %ebp
        call    ew_thread_main
        hlt
        .cfi_endproc
        .size   ew_thread_start, . - ew_thread_start

        .globl  ew_sigreturn
        .hidden ew_sigreturn
        .type   ew_sigreturn, @function
/* Where a handler of the kernel's returns to. Unwinders know it by these very bytes, and only where
 * there is no unwind information. */
        nop
ew_sigreturn:
        mov     $15, %rax
        syscall
        .size   ew_sigreturn, . - ew_sigreturn

        .section .note.GNU-stack, "", @progbits
