// SPDX-License-Identifier: Apache-2.0
// x86-64: what a stopped thread is about to call, what a call returned.
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tracer.h"

// Fields of struct user, as PTRACE_PEEKUSER names them.
#define REGISTER(name) offsetof(struct user_regs_struct, name)

static int poke(pid_t thread, size_t where, uint64_t value) {
    return ptrace(PTRACE_POKEUSER, thread, where, value) < 0 ? -1 : 0;
}

int stop_entry(pid_t thread, struct entry *entry) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, 0, &registers) < 0)
        return -1;
    *entry = (struct entry){
        registers.orig_rax,
        {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9}};
    return 0;
}

int stop_result(pid_t thread, int64_t *result) {
    errno = 0;
    long value = ptrace(PTRACE_PEEKUSER, thread, REGISTER(rax), 0);
    *result = value;
    return value == -1 && errno ? -1 : 0;
}

int stop_set_result(pid_t thread, int64_t result) {
    return poke(thread, REGISTER(rax), (uint64_t)result);
}

int stop_skip(pid_t thread, int64_t result) {
    if (poke(thread, REGISTER(orig_rax), (uint64_t)-1) < 0)
        return -1;
    return stop_set_result(thread, result);
}

int stop_argument(pid_t thread, int which, uint64_t value) {
    return poke(thread, which ? REGISTER(rsi) : REGISTER(rdi), value);
}

int stop_again(pid_t thread, uint64_t number) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, 0, &registers) < 0)
        return -1;
    registers.rip -= 2; // the length of its instruction
    registers.rax = number;
    return ptrace(PTRACE_SETREGS, thread, 0, &registers) < 0 ? -1 : 0;
}

void stop_go(pid_t thread, bool to_the_end_of_the_call, int signal) {
    // A thread that was killed meanwhile tells so itself.
    ptrace(to_the_end_of_the_call ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, signal);
}
