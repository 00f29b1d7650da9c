/* SPDX-License-Identifier: Apache-2.0 */
/* getcontext, setcontext, swapcontext, for the sake of the shadow stack and the thread's own mask.
 * Offsets are those of ucontext_t: uc_mcontext.gregs begins at 40 with r8, fpregs is at 224. */

#define R8      40
#define R9      48
#define R12     72
#define R13     80
#define R14     88
#define R15     96
#define RDI     104
#define RSI     112
#define RBP     120
#define RBX     128
#define RDX     136
#define RAX     144
#define RCX     152
#define RSP     160
#define RIP     168
#define FPREGS  224
#define FPSPACE 424             /* __fpregs_mem */
#define MXCSR   24

        .macro  FUNCTION name
        .globl  \name
        .type   \name, @function
\name:  .cfi_startproc
        .endm
        .macro  END name
        .cfi_endproc
        .size   \name, . - \name
        .endm

/* What a call keeps, as it is after the return to the caller; rdi is the context. */
        .macro  SAVE
        mov     %rbx, RBX(%rdi)
        mov     %rbp, RBP(%rdi)
        mov     %r12, R12(%rdi)
        mov     %r13, R13(%rdi)
        mov     %r14, R14(%rdi)
        mov     %r15, R15(%rdi)
        mov     %rdi, RDI(%rdi)
        mov     %rsi, RSI(%rdi)
        mov     %rdx, RDX(%rdi)
        mov     %rcx, RCX(%rdi)
        mov     %r8, R8(%rdi)
        mov     %r9, R9(%rdi)
        movq    $0, RAX(%rdi)
        mov     (%rsp), %rax
        mov     %rax, RIP(%rdi)
        lea     8(%rsp), %rax
        mov     %rax, RSP(%rdi)
        lea     FPSPACE(%rdi), %rax
        mov     %rax, FPREGS(%rdi)
        fnstenv (%rax)
        fldenv  (%rax)
        stmxcsr MXCSR(%rax)
        .endm

        .hidden ew_context_note
        .hidden ew_context_enter
        .hidden ew_context_over

        .text
/* int getcontext(ucontext_t *) */
FUNCTION getcontext
        SAVE
        jmp     ew_context_note
END     getcontext

/* int swapcontext(ucontext_t *save, const ucontext_t *load) */
FUNCTION swapcontext
        SAVE
        push    %rsi
        .cfi_adjust_cfa_offset 8
        call    ew_context_note
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        jmp     setcontext
END     swapcontext

/* int setcontext(const ucontext_t *) */
FUNCTION setcontext
        push    %rdi
        .cfi_adjust_cfa_offset 8
        call    ew_context_enter
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        mov     FPREGS(%rdi), %rax
        fldenv  (%rax)
        ldmxcsr MXCSR(%rax)
        mov     RBX(%rdi), %rbx
        mov     RBP(%rdi), %rbp
        mov     R12(%rdi), %r12
        mov     R13(%rdi), %r13
        mov     R14(%rdi), %r14
        mov     R15(%rdi), %r15
        mov     RSP(%rdi), %rsp
        pushq   RIP(%rdi)
        mov     RSI(%rdi), %rsi
        mov     RDX(%rdi), %rdx
        mov     RCX(%rdi), %rcx
        mov     R8(%rdi), %r8
        mov     R9(%rdi), %r9
        mov     RDI(%rdi), %rdi
        xor     %eax, %eax
        ret
END     setcontext

/* Where the function of a made context returns to; rbx is the context that follows. */
        .globl  ew_context_return
        .hidden ew_context_return
        .type   ew_context_return, @function
ew_context_return:
        .cfi_startproc
        .cfi_undefined rip
        nop
        mov     %rbx, %rdi
        xor     %ebp, %ebp
        and     $-16, %rsp
        call    ew_context_over
        hlt
        .cfi_endproc
        .size   ew_context_return, . - ew_context_return

        .section .note.GNU-stack, "", @progbits
