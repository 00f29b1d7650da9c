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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_TABLE_ROWS
#include "call_table.h"
#include "numbering.h"
#include "tracer.h"

enum { SHAPES = sizeof call_shapes / sizeof *call_shapes };

const struct call_shape *call_shape_of(uint64_t number) {
    return number < SHAPES && call_shapes[number].name ? &call_shapes[number] : NULL;
}

// ---- the filter: which calls stop

struct filter {
    size_t count;
    struct sock_filter steps[2 * SHAPES];
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

static void add_calls(struct filter *filter) {
    add_unless(filter, SYS_mmap, 3, MAP_ANONYMOUS);
    add_unless(filter, SYS_futex, 1, FUTEX_PRIVATE_FLAG);
    for (uint32_t number = 0; number < SHAPES; number++) {
        if (!call_shapes[number].name || number == SYS_mmap || number == SYS_futex)
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
    give(&filter, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)filter.count, filter.steps};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return 0;
    // Who has no privilege must do without those that setuid programs would give.
    if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static noreturn void become(char **command, int go) {
    char byte;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (read(go, &byte, 1) != 1)
        _exit(EXIT_OUR_BUG);
    personality(ADDR_NO_RANDOMIZE | (unsigned long)personality(0xffffffff));
    if (install_filter() < 0)
        die(EXIT_UNAVAILABLE, "calls cannot be filtered: %s", strerror(errno));
    execvp(command[0], command);
    die(errno == ENOENT ? 127 : 126, "cannot run %s: %s", command[0], strerror(errno));
}

pid_t start_command(char **command) {
    int go[2];
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                   PTRACE_O_EXITKILL;
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

// ---- what the kernel lays on the stack of a new program

static uint64_t word_at(pid_t thread, uint64_t address) {
    uint64_t word = 0;
    memory_read(thread, address, &word, sizeof word);
    return word;
}

// Behind the arguments and the environment, each ended by a zero.
static uint64_t auxiliary_of(pid_t thread) {
    uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, thread, 8 * 19 /* rsp */, 0);
    at += 8 * (word_at(thread, at) + 2);
    while (word_at(thread, at))
        at += 8;
    return at + 8;
}

static void random_of(const struct thread *thread, uint64_t bytes[2]) {
    uint64_t key[3] = {(uint64_t)thread->id, thread->index, 0};
    bytes[0] = hash_of(key, sizeof key);
    key[2] = 1;
    bytes[1] = hash_of(key, sizeof key);
}

void start_program(const struct thread *thread) {
    for (uint64_t at = auxiliary_of(thread->id);; at += 16) {
        uint64_t entry[2], random[2];
        if (memory_read(thread->id, at, entry, sizeof entry) != sizeof entry || !entry[0])
            return;
        if (entry[0] == AT_SYSINFO_EHDR) {
            entry[0] = AT_IGNORE;
            memory_write(thread->id, at, entry, sizeof entry);
        } else if (entry[0] == AT_RANDOM) {
            random_of(thread, random);
            memory_write(thread->id, entry[1], random, sizeof random);
        }
    }
}
