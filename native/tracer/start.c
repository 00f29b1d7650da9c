// SPDX-License-Identifier: Apache-2.0
// The command's first process, and what a program finds when it begins.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_TABLE_OTHERS
#include "call_table.h"
#include "numbering.h"
#include "tracer.h"

// ---- the filter: which calls stop

struct filter {
    size_t count;
    struct sock_filter steps[3 * CALL_NUMBERS + 64];
};

static void add(struct filter *filter, uint16_t code, uint32_t k, uint8_t yes, uint8_t no) {
    filter->steps[filter->count++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct filter *filter, size_t offset) {
    add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void give(struct filter *filter, uint32_t answer) {
    add(filter, BPF_RET | BPF_K, answer, 0, 0);
}

// One that goes free when a bit of an argument is set; the number is loaded.
static void add_unless(struct filter *filter, uint32_t number, int argument, uint32_t bit) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4);
    load(filter, offsetof(struct seccomp_data, args) + 8 * (size_t)argument);
    add(filter, BPF_JMP | BPF_JSET | BPF_K, bit, 0, 1);
    give(filter, SECCOMP_RET_ALLOW);
    give(filter, SECCOMP_RET_TRACE);
}

// Not recorded, but the tracer must know of them; loop.c has them too.
static const uint32_t noticed[] = {
    SYS_unshare,           SYS_setns,           SYS_chroot,
    SYS_pivot_root,        SYS_io_uring_setup,  SYS_sched_getaffinity,
    SYS_sched_setaffinity, SYS_alarm,           SYS_setitimer,
    SYS_timer_settime,     SYS_restart_syscall,
};

// Asking what is done with a signal changes nothing: only who says what to do stops.
static void add_if_given(struct filter *filter, uint32_t number, int argument) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 6);
    load(filter, offsetof(struct seccomp_data, args) + 8 * (size_t)argument);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
    load(filter, offsetof(struct seccomp_data, args) + 8 * (size_t)argument + 4);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    give(filter, SECCOMP_RET_TRACE);
    give(filter, SECCOMP_RET_ALLOW);
}

// Those of one process alone go free, unless they wait until a moment of a clock.
static void add_futex(struct filter *filter) {
    size_t arguments = offsetof(struct seccomp_data, args);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 12);
    load(filter, arguments + 8);
    add(filter, BPF_JMP | BPF_JSET | BPF_K, FUTEX_PRIVATE_FLAG, 1, 0);
    give(filter, SECCOMP_RET_TRACE);
    add(filter, BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK & 0x7f, 0, 0);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAIT_BITSET, 1, 0);
    give(filter, SECCOMP_RET_ALLOW);
    load(filter, arguments + 24);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load(filter, arguments + 28);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    give(filter, SECCOMP_RET_ALLOW);
    give(filter, SECCOMP_RET_TRACE);
}

static void add_not_modelled(struct filter *filter) {
    for (size_t i = 0; i < sizeof not_modelled / sizeof *not_modelled; i++) {
        add(filter, BPF_JMP | BPF_JEQ | BPF_K, not_modelled[i], 0, 1);
        give(filter, SECCOMP_RET_TRACE);
    }
    add(filter, BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN_CALL, 0, 1); // newer than the table
    give(filter, SECCOMP_RET_TRACE);
}

static void add_calls(struct filter *filter) {
    for (size_t i = 0; i < sizeof noticed / sizeof *noticed; i++) {
        add(filter, BPF_JMP | BPF_JEQ | BPF_K, noticed[i], 0, 1);
        give(filter, SECCOMP_RET_TRACE);
    }
    add_unless(filter, SYS_mmap, 3, MAP_ANONYMOUS);
    add_futex(filter);
    add_if_given(filter, SYS_rt_sigaction, 1);
    for (uint32_t number = 0; number < CALL_NUMBERS; number++) {
        if (!call_shape_of(number) || number == SYS_mmap || number == SYS_futex ||
            number == SYS_rt_sigaction)
            continue;
        add(filter, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        give(filter, SECCOMP_RET_TRACE);
    }
}

// Calls of other ABIs (32-bit, x32) are not in the table: they go free.
static int install_filter(void) {
    static struct filter filter;
    load(&filter, offsetof(struct seccomp_data, arch));
    add(&filter, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    give(&filter, SECCOMP_RET_ALLOW);
    load(&filter, offsetof(struct seccomp_data, nr));
    add_calls(&filter);
    add_not_modelled(&filter);
    give(&filter, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)filter.count, filter.steps};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return 0;
    // Who has no privilege must do without those that setuid programs would give.
    if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

// What is held open of each process can be more than the limit that most are given.
static struct rlimit descriptors;

static void lift_limit(void) {
    if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){descriptors.rlim_max, descriptors.rlim_max});
}

// Why the command did not become one whose calls stop: an error that both see; 0: it did.
static int *no_filter;

static noreturn void become(char **command, int go) {
    char byte;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (read(go, &byte, 1) != 1)
        _exit(EXIT_OUR_BUG);
    if (descriptors.rlim_max)
        setrlimit(RLIMIT_NOFILE, &descriptors);
    personality(ADDR_NO_RANDOMIZE | (unsigned long)personality(0xffffffff));
    if (install_filter() < 0) {
        *no_filter = errno;
        _exit(EXIT_UNAVAILABLE);
    }
    execvp(command[0], command);
    die(errno == ENOENT ? 127 : 126, "cannot run %s: %s", command[0], strerror(errno));
}

pid_t start_command(char **command) {
    int go[2];
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                   PTRACE_O_EXITKILL;
    lift_limit();
    processors_begin();
    no_filter =
        mmap(NULL, sizeof *no_filter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (no_filter == MAP_FAILED)
        die(EXIT_UNAVAILABLE, "there is no memory: %s", strerror(errno));
    if (pipe2(go, O_CLOEXEC) < 0)
        die(EXIT_UNAVAILABLE, "there are no pipes: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        become(command, go[0]);
    if (child < 0)
        die(EXIT_UNAVAILABLE, "no process can be made: %s", strerror(errno));
    if (ptrace(PTRACE_SEIZE, child, 0, options) < 0)
        die(EXIT_UNAVAILABLE, "ptrace is refused: %s", strerror(errno));
    if (write(go[1], "", 1) != 1)
        die(EXIT_OUR_BUG, "the command cannot be let go");
    close(go[0]);
    close(go[1]);
    return child;
}

// A command that was never run has no recording: an exit status of its own it has not.
void start_check(void) {
    if (*no_filter)
        die(EXIT_UNAVAILABLE, "seccomp is refused: %s", strerror(*no_filter));
}

// ---- what the kernel lays on the stack of a new program

enum { STACK_MAX = 1 << 17, STACK_PART = 4096 }; // words that are looked at; bytes at a time

static struct {
    uint64_t start;
    size_t count; // words
    uint64_t words[STACK_MAX];
} stack;

static bool stack_more(pid_t thread) {
    uint64_t at = stack.start + 8 * stack.count;
    size_t part = STACK_PART - at % STACK_PART;
    if (stack.count + part / 8 > STACK_MAX ||
        memory_read(thread, at, stack.words + stack.count, part) != (ssize_t)part)
        return false;
    stack.count += part / 8;
    return true;
}

static bool stack_has(pid_t thread, size_t word) {
    while (word >= stack.count)
        if (!stack_more(thread))
            return false;
    return true;
}

// Which word of the stack the auxiliary vector begins with: behind the arguments and the
// environment, each ended by a zero.
static size_t auxiliary_of(pid_t thread) {
    stack.start = (uint64_t)ptrace(PTRACE_PEEKUSER, thread, 8 * 19 /* rsp */, 0);
    stack.count = 0;
    size_t at = stack_has(thread, 0) ? stack.words[0] + 2 : 0;
    while (stack_has(thread, at) && stack.words[at])
        at++;
    return at + 1;
}

static void random_of(const struct thread *thread, uint64_t bytes[2]) {
    uint64_t key[3] = {(uint64_t)thread->id, thread->index, 0};
    bytes[0] = hash_of(key, sizeof key);
    key[2] = 1;
    bytes[1] = hash_of(key, sizeof key);
}

void start_program(const struct thread *thread) {
    for (size_t at = auxiliary_of(thread->id); stack_has(thread->id, at + 1); at += 2) {
        uint64_t random[2], ignore = AT_IGNORE;
        if (!stack.words[at])
            return;
        if (stack.words[at] == AT_SYSINFO_EHDR) {
            memory_write(thread->id, stack.start + 8 * at, &ignore, sizeof ignore);
        } else if (stack.words[at] == AT_RANDOM && gate_is_ordered()) {
            random_of(thread, random);
            memory_write(thread->id, stack.words[at + 1], random, sizeof random);
        }
    }
}
