# SPDX-License-Identifier: Apache-2.0
# What stands in place of a call of a hook. Like the hook in native/runtime/tsan_memory.c it looks
# whether there is anything to do, and mostly there is not. What a call may change may be changed
# here too, so nothing has to be kept. hot.S says what lies at __eitherway_hot_1.

# The cells are of four bytes each. What is as large begins with one, or is looked at. `kept` of a
# cell's address finds it from any of its bytes, but from an odd address of two bytes, which may lie
# in two cells: there it finds halves of entries, which do not look like an entry.
# The access is counted first, and taken back where the hook counts it itself: fewer instructions
# than to store the count where it passes, of which array takes a tenth less. What has been counted
# and is the first of its sort in a segment goes to where the hook would, with the cell and the
# running thread's entry where a call has its second and third argument; from there to behind the
# other call it is 11 bytes (tsan_memory.c).
.macro eitherway_access name, cells, reads, kept
    movq __eitherway_hot_1@GOTPCREL(%rip), %rcx
    movq %rdi, %rsi
    subq $1, (%rcx)
    js .Leitherway_call\@
    shlq $20, %rsi
    movl 16(%rcx), %edx
    shrq $19, %rsi
  .if \kept != -1
    andq $\kept, %rsi
  .else
    testb $3, %dil
    jne .Leitherway_call\@
  .endif
    btsq $45, %rsi
    cmpl %edx, (%rsi)
  .if \cells == 2
    jne .Leitherway_other\@
    cmpl %edx, 8(%rsi)
  .endif
    je .Leitherway_done\@
.Leitherway_other\@:
  .if \reads
    cmpl %edx, 4(%rsi)
    .if \cells == 2
    jne .Leitherway_fresh\@
    cmpl %edx, 12(%rsi)
    .endif
    je .Leitherway_done\@
  .endif
.Leitherway_fresh\@:
    call __eitherway_fresh_\name@PLT
    jmp .Leitherway_done\@
.Leitherway_call\@:
    addq $1, (%rcx)
    call __tsan_\name@PLT
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
