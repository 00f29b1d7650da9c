/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the C library has for its own libraries, and for programs built long ago. */
        .text

#define ALIAS(name, of)                                                                            \
        .globl  name;                                                                              \
        .type   name, @function;                                                                   \
name:   jmp     of@PLT;                                                                            \
        .size   name, . - name;

ALIAS(__bsd_getpgrp, getpgid)
ALIAS(__clock_gettime, clock_gettime)
ALIAS(__close, close)
ALIAS(__connect, connect)
ALIAS(__dup2, dup2)
ALIAS(__fcntl, fcntl)
ALIAS(__getpgid, getpgid)
ALIAS(__getpid, getpid)
ALIAS(__gettimeofday, gettimeofday)
ALIAS(__libc_fork, fork)
ALIAS(__libc_sigaction, sigaction)
ALIAS(__libc_system, system)
ALIAS(__nanosleep, nanosleep)
ALIAS(__pipe, pipe)
ALIAS(__poll, poll)
ALIAS(__pread64, pread64)
ALIAS(__pwrite64, pwrite64)
ALIAS(__read, read)
ALIAS(__recv, recv)
ALIAS(__sched_yield, sched_yield)
ALIAS(__select, select)
ALIAS(__send, send)
ALIAS(__setpgid, setpgid)
ALIAS(__sigtimedwait, sigtimedwait)
ALIAS(__wait, wait)
ALIAS(__waitpid, waitpid)
ALIAS(__write, write)

/* BSD's, whose argument is a mask; glibc's has a second one that says so. */
        .globl  sigpause
        .type   sigpause, @function
sigpause:
        xor     %esi, %esi
        jmp     __sigpause@PLT
        .size   sigpause, . - sigpause

        .section .note.GNU-stack, "", @progbits
