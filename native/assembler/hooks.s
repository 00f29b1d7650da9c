# SPDX-License-Identifier: Apache-2.0
# What stands in place of a call of a hook. Like the hook in native/runtime/tsan_memory.c it looks
# whether there is anything to do, and mostly there is not. What a call may change may be changed
# here too, so nothing has to be kept. hot.S says what lies at __eitherway_hot_1.

# The cells are of four bytes each. What is as large begins with one, or is looked at. `kept` of a
# cell's address finds it from any of its bytes, but from an odd address of two bytes, which may lie
# in two cells: there it finds halves of entries, which do not look like an entry.
# The access is counted first, and taken back where the hook counts it itself: fewer instructions
# than to store the count where it passes, of which array takes a tenth less.
.macro eitherway_access hook, cells, reads, kept
    movq __eitherway_hot_1@GOTPCREL(%rip), %rcx
    movq %rdi, %rax
    subq $1, (%rcx)
    js .Leitherway_call\@
    shlq $20, %rax
    movl 16(%rcx), %edx
    shrq $19, %rax
  .if \kept != -1
    andq $\kept, %rax
  .else
    testb $3, %dil
    jne .Leitherway_call\@
  .endif
    btsq $45, %rax
    cmpl %edx, (%rax)
  .if \cells == 2
    jne .Leitherway_other\@
    cmpl %edx, 8(%rax)
  .endif
    je .Leitherway_done\@
.Leitherway_other\@:
  .if \reads
    cmpl %edx, 4(%rax)
    .if \cells == 2
    jne .Leitherway_call\@
    cmpl %edx, 12(%rax)
    .endif
    je .Leitherway_done\@
  .endif
.Leitherway_call\@:
    addq $1, (%rcx)
    call \hook
.Leitherway_done\@:
.endm

.macro eitherway_entry
    movq __eitherway_hot_1@GOTPCREL(%rip), %rcx
    movq 8(%rcx), %rax
    movq %rdi, (%rax)
    addq $8, %rax
    movq %rax, 8(%rcx)
.endm

.macro eitherway_exit
    movq __eitherway_hot_1@GOTPCREL(%rip), %rcx
    movq 8(%rcx), %rax
    subq $8, %rax
    movq %rax, 8(%rcx)
.endm
