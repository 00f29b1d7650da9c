// SPDX-License-Identifier: Apache-2.0
// libc's syscall(): what is ours to decide stays here, the rest goes to the kernel.
#include "futex.h"
#include "input.h"
#include "resident.h"
#include "sync.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
    long number, argument[6];
    const void *pc;
};

// --- signals to threads

static long signal_thread(long tid, int signal) {
    struct ew_thread *thread = ew_thread_numbered((int)tid);
    if (!thread || thread->state == EW_ENDED)
        return -ESRCH;
    return -pthread_kill((pthread_t)thread->fs, signal);
}

// --- calls that have a function of the same arguments and results, which knows what to do

typedef long (*function)(long, long, long, long, long, long);

static const struct same {
    long number;
    void (*function)(void);
    bool is_int;
} same[] = {
#define PASSED(call)
#define CONTROLLED(call, name, result)                                                             \
    {SYS_##call, (void (*)(void))name, sizeof(result) == sizeof(int)},
#include "system_calls.h"
#undef CONTROLLED
#undef PASSED
};

static const struct same *same_as(long number) {
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (same[i].number == number)
            return &same[i];
    return NULL;
}

static long call_same(const struct same *found, const long *a) {
    long value = ((function)found->function)(a[0], a[1], a[2], a[3], a[4], a[5]);
    return found->is_int ? (int)value : value;
}

// --- calls that are the same in every run and wait for nobody

static const uint16_t harmless[] = {
#define CONTROLLED(call, name, result)
#define PASSED(call) SYS_##call,
#include "system_calls.h"
};

static bool is_harmless(long number) {
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (harmless[i] == number)
            return true;
    return false;
}

// --- all others

#define NUMBERS 1024

// A name that stays: "syscall(426)".
static const char *name_of(long number) {
    EW_LARGE static char names[NUMBERS][16];
    if (number < 0 || number >= NUMBERS)
        return "syscall";
    snprintf(names[number], sizeof *names, "syscall(%ld)", number);
    return names[number];
}

// A thread or a shared address space that glibc does not know of cannot be controlled.
static void check_clone(const struct call *call) {
    uint64_t flags = call->number == SYS_clone3 ? *(const uint64_t *)call->argument[0]
                                                : (uint64_t)call->argument[0];
    if (flags & CLONE_VM)
        ew_cannot("syscall(): threads made by clone past pthread_create are not supported");
}

// --- the others

static long futex(const struct call *call) {
    const long *a = call->argument;
    return ew_futex(&(struct ew_futex_call){
        .word = (uint32_t *)a[0],
        .operation = (int)a[1],
        .value = (uint32_t)a[2],
        .timeout = (const struct timespec *)a[3],
        .word2 = (uint32_t *)a[4],
        .value3 = (uint32_t)a[5],
        .pc = call->pc,
    });
}

static long not_known(const char *name) {
    ew_report(name, "not supported: refused as an older kernel would");
    return -ENOSYS;
}

// The kernel's sets are shorter than libc's.
static long change_mask(int how, const uint64_t *set, uint64_t *old, long size) {
    sigset_t new = {0}, before;
    if (size != sizeof *set)
        return -EINVAL;
    if (set)
        memcpy(&new, set, sizeof *set);
    int error = pthread_sigmask(how, set ? &new : NULL, &before);
    if (!error && old)
        memcpy(old, &before, sizeof *old);
    return -error;
}

// The result, or -errno.
static long dispatch(const struct call *call) {
    const long *a = call->argument;
    switch (call->number) {
    case SYS_futex:
        return futex(call);
    case SYS_futex_waitv:
        return not_known("syscall(SYS_futex_waitv)");
    case SYS_tkill:
        return signal_thread(a[0], (int)a[1]);
    case SYS_clock_nanosleep:
        return -clock_nanosleep((clockid_t)a[0], (int)a[1], (const struct timespec *)a[2],
                                (struct timespec *)a[3]);
    case SYS_getpriority: // libc's answer is another
        return ew_input_call(SYS_getpriority, a[0], a[1], 0, 0, 0, 0);
    case SYS_exit_group:
        _exit((int)a[0]);
    case SYS_exit:
        if (ew_thread_count() > 1)
            ew_cannot("syscall(SYS_exit): a thread that ends behind libc's back");
        _exit((int)a[0]);
    case SYS_clone:
    case SYS_clone3:
        check_clone(call);
        break;
    case SYS_seccomp:
        ew_resident_tell();
        break;
    case SYS_rt_sigprocmask:
        return change_mask((int)a[0], (const uint64_t *)a[1], (uint64_t *)a[2], a[3]);
    default:
        if (!is_harmless(call->number))
            ew_report(name_of(call->number), "this system call is not controlled");
    }
    return raw6(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

EW_EXPORT long syscall(long number, ...) {
    struct call call = {.number = number, .pc = PC};
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        call.argument[i] = va_arg(rest, long);
    va_end(rest);
    const struct same *found = ew_running && number != SYS_futex ? same_as(number) : NULL;
    if (found)
        return call_same(found, call.argument);
    const long *a = call.argument;
    long result = ew_running ? dispatch(&call) : raw6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}
