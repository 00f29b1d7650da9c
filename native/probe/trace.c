// SPDX-License-Identifier: Apache-2.0
// Control of another process: ptrace, seccomp, its memory, its handle.
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// FIRST_CALLS: a child just forked makes a few calls of its own before the one we wait for.
enum { SECCOMP_MESSAGE = 0x2a, FIRST_CALLS = 16 };

// The kernel's numbers as glibc passes them; glibc's ptrace() takes an enum that lacks some.
static long trace(int request, pid_t pid, unsigned long address, unsigned long data) {
    return syscall(SYS_ptrace, (long)request, (long)pid, address, data);
}

static pid_t call_for_ever(void) {
    pid_t child = fork_bound();
    if (child != 0)
        return child;
    for (;;)
        syscall(SYS_getppid);
}

static bool stopped_with(pid_t child, int signal_and_event) {
    int status;
    return waitpid(child, &status, __WALL) == child && WIFSTOPPED(status) &&
           status >> 8 == signal_and_event;
}

// Seizes and stops a running child, as the recorder and the replayer do; 0, or -1 and errno.
static int seize_and_stop(pid_t child, unsigned long options) {
    if (trace(PTRACE_SEIZE, child, 0, options | PTRACE_O_EXITKILL) < 0)
        return -1;
    if (trace(PTRACE_INTERRUPT, child, 0, 0) < 0)
        return -1;
    errno = 0;
    return stopped_with(child, SIGTRAP | PTRACE_EVENT_STOP << 8) ? 0 : -1;
}

struct answer probe_ptrace(void) {
    pid_t child = call_for_ever();
    if (child < 0)
        return no("fork");
    struct answer a;
    if (seize_and_stop(child, 0) < 0)
        a = no("PTRACE_SEIZE and PTRACE_INTERRUPT of a child");
    else if (trace(PTRACE_DETACH, child, 0, 0) < 0)
        a = no("PTRACE_DETACH");
    else
        a = yes("a child was seized, stopped and let go");
    end_child(child);
    return a;
}

// Runs the child to its next stop at a call, which must be of the wanted kind.
static struct answer syscall_stop(pid_t child, uint8_t wanted, uint64_t *number) {
    struct __ptrace_syscall_info info = {0};
    if (trace(PTRACE_SYSCALL, child, 0, 0) < 0)
        return no("PTRACE_SYSCALL");
    if (!stopped_with(child, SIGTRAP | 0x80))
        return wrong("PTRACE_SYSCALL: no stop");
    if (trace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, (unsigned long)(uintptr_t)&info) < 0)
        return no("PTRACE_GET_SYSCALL_INFO");
    if (info.op != wanted)
        return wrong("PTRACE_SYSCALL: stop of another kind");
    if (wanted == PTRACE_SYSCALL_INFO_ENTRY)
        *number = info.entry.nr;
    return yes("stops at entry and exit of a call, with its number");
}

static struct answer watch_calls(pid_t child) {
    uint64_t number = 0;
    for (int i = 0; i < FIRST_CALLS; i++) {
        struct answer a = syscall_stop(child, PTRACE_SYSCALL_INFO_ENTRY, &number);
        if (a.state == STATE_YES)
            a = syscall_stop(child, PTRACE_SYSCALL_INFO_EXIT, &number);
        if (a.state != STATE_YES || number == SYS_getppid)
            return a;
    }
    return wrong("PTRACE_SYSCALL: getppid was not seen");
}

struct answer probe_ptrace_syscall(void) {
    pid_t child = call_for_ever();
    if (child < 0)
        return no("fork");
    struct answer a;
    if (seize_and_stop(child, PTRACE_O_TRACESYSGOOD) < 0)
        a = no("PTRACE_SEIZE of a child");
    else
        a = watch_calls(child);
    end_child(child);
    return a;
}

// Gives getppid the action and lets every other call pass.
static int filter_getppid(uint32_t action) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

struct answer probe_seccomp_filter(void) {
    if (filter_getppid(SECCOMP_RET_ERRNO | EXDEV) < 0)
        return no("seccomp(SECCOMP_SET_MODE_FILTER)");
    errno = 0;
    if (syscall(SYS_getppid) != -1 || errno != EXDEV)
        return wrong("the filter is installed and filters nothing");
    return yes("a filter refused the chosen call");
}

static struct answer await_seccomp_stop(pid_t child) {
    unsigned long message = 0;
    if (trace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL) < 0)
        return no("PTRACE_SEIZE of a child");
    if (!stopped_with(child, SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
        return wrong("SECCOMP_RET_TRACE: no stop");
    if (trace(PTRACE_GETEVENTMSG, child, 0, (unsigned long)(uintptr_t)&message) < 0)
        return no("PTRACE_GETEVENTMSG");
    if (message != SECCOMP_MESSAGE)
        return wrong("SECCOMP_RET_TRACE: another message");
    return yes("only the chosen call stopped");
}

struct answer probe_seccomp_trace(void) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0)
        return no("pipe2");
    pid_t child = fork_bound();
    if (child < 0)
        return no("fork");
    if (child == 0) {
        unsigned char error = filter_getppid(SECCOMP_RET_TRACE | SECCOMP_MESSAGE) < 0 ? errno : 0;
        ssize_t done = write(ready[1], &error, 1);
        while (done == 1)
            syscall(SYS_getppid);
        _exit(1);
    }
    unsigned char error = 0;
    struct answer a;
    if (read(ready[0], &error, 1) != 1)
        error = EPIPE;
    errno = error;
    a = error ? no("seccomp filter with SECCOMP_RET_TRACE") : await_seccomp_stop(child);
    end_child(child);
    return a;
}

// A child whose copy of `word` is 42, and which then waits; its pipe says when.
static volatile int word = 41;

static pid_t child_with_word(void) {
    int ready[2];
    char byte = 0;
    if (pipe2(ready, O_CLOEXEC) < 0)
        return -1;
    pid_t child = fork_bound();
    if (child < 0)
        return -1;
    if (child == 0) {
        word = 42;
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]); // so that a child that dies early ends the read
    ssize_t got = read(ready[0], &byte, 1);
    close(ready[0]);
    if (got == 1)
        return child;
    end_child(child);
    errno = ECHILD;
    return -1;
}

static struct answer read_write_memory(pid_t child) {
    char path[64];
    int seen = 0, written = 43;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)child);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return no("open /proc/PID/mem of a child for writing");
    off_t at = (off_t)(uintptr_t)&word;
    if (pread(fd, &seen, sizeof seen, at) != sizeof seen)
        return no("pread /proc/PID/mem");
    if (seen != 42)
        return wrong("/proc/PID/mem shows another value");
    if (pwrite(fd, &written, sizeof written, at) != sizeof written)
        return no("pwrite /proc/PID/mem");
    if (pread(fd, &seen, sizeof seen, at) != sizeof seen || seen != 43)
        return wrong("pwrite to /proc/PID/mem had no effect");
    return yes("memory of a child read and written");
}

struct answer probe_proc_mem(void) {
    pid_t child = child_with_word();
    if (child < 0)
        return no("fork");
    struct answer a = read_write_memory(child);
    end_child(child);
    return a;
}

struct answer probe_process_vm(void) {
    pid_t child = child_with_word();
    if (child < 0)
        return no("fork");
    int seen = 0;
    struct iovec local = {.iov_base = &seen, .iov_len = sizeof seen};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)&word, .iov_len = sizeof seen};
    struct answer a;
    if (process_vm_readv(child, &local, 1, &remote, 1, 0) != sizeof seen)
        a = no("process_vm_readv of a child");
    else
        a = seen == 42 ? yes("memory of a child read")
                       : wrong("process_vm_readv shows another value");
    end_child(child);
    return a;
}

static struct answer signal_and_poll(int pidfd) {
    int copy = (int)syscall(SYS_pidfd_getfd, pidfd, 1, 0);
    if (copy < 0)
        return no("pidfd_getfd of a child");
    close(copy);
    if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
        return no("pidfd_send_signal");
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    if (poll(&end, 1, -1) != 1)
        return no("poll of a pidfd");
    return yes("opened, file taken over, signal sent, end polled");
}

struct answer probe_pidfd(void) {
    pid_t child = child_with_word();
    if (child < 0)
        return no("fork");
    int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    struct answer a = pidfd < 0 ? no("pidfd_open of a child") : signal_and_poll(pidfd);
    end_child(child);
    return a;
}

struct answer probe_memfd(void) {
    int fd = memfd_create("eitherway-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return no("memfd_create");
    if (ftruncate(fd, 4096) < 0)
        return no("ftruncate of a memfd");
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return no("mmap of a memfd");
    page[0] = 'x';
    char seen = 0;
    if (pread(fd, &seen, 1, 0) != 1 || seen != 'x')
        return wrong("a store to a mapped memfd is not in the file");
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
        return no("F_ADD_SEALS");
    return yes("made, mapped, sealed");
}
