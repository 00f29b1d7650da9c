// SPDX-License-Identifier: Apache-2.0
// libc's syscall(): what is ours to decide stays here, the rest goes to the kernel.
#include "futex.h"
#include "sync.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
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
#define SAME(name, result) {SYS_##name, (void (*)(void))name, sizeof(result) == sizeof(int)}

static const struct same {
    long number;
    void (*function)(void);
    bool is_int;
} same[] = {
    SAME(read, ssize_t),      SAME(write, ssize_t),    SAME(readv, ssize_t),
    SAME(writev, ssize_t),    SAME(recvfrom, ssize_t), SAME(sendto, ssize_t),
    SAME(recvmsg, ssize_t),   SAME(sendmsg, ssize_t),  SAME(recvmmsg, int),
    SAME(sendmmsg, int),      SAME(accept, int),       SAME(accept4, int),
    SAME(connect, int),       SAME(poll, int),         SAME(select, int),
    SAME(epoll_wait, int),    SAME(epoll_pwait, int),  SAME(ppoll, int),
    SAME(wait4, int),         SAME(waitid, int),       SAME(pause, int),
    SAME(flock, int),         SAME(fcntl, int),        SAME(semop, int),
    SAME(semtimedop, int),    SAME(msgsnd, int),       SAME(msgrcv, ssize_t),
    SAME(clock_gettime, int), SAME(gettimeofday, int), SAME(time, time_t),
    SAME(nanosleep, int),     SAME(sched_yield, int),  SAME(getrandom, ssize_t),
    SAME(gettid, int),        SAME(tgkill, int),       SAME(fork, int),
    SAME(close, int),         SAME(open, int),         SAME(openat, int),
    SAME(execve, int),        SAME(execveat, int),     SAME(vfork, int),
    SAME(getpid, int),        SAME(getppid, int),      SAME(getpgid, int),
    SAME(getpgrp, int),       SAME(getsid, int),       SAME(setsid, int),
    SAME(setpgid, int),       SAME(kill, int),
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

// --- calls that would stop the carrier or leave it

static const struct {
    long number;
    const char *name;
} blocking[] = {
    {SYS_pselect6, "syscall(SYS_pselect6)"},
    {SYS_rt_sigtimedwait, "syscall(SYS_rt_sigtimedwait)"},
    {SYS_rt_sigsuspend, "syscall(SYS_rt_sigsuspend)"},
    {SYS_mq_timedsend, "syscall(SYS_mq_timedsend)"},
    {SYS_mq_timedreceive, "syscall(SYS_mq_timedreceive)"},
    {SYS_io_getevents, "syscall(SYS_io_getevents)"},
    {SYS_io_pgetevents, "syscall(SYS_io_pgetevents)"},
    {SYS_io_uring_enter, "syscall(SYS_io_uring_enter)"},
    {SYS_epoll_pwait2, "syscall(SYS_epoll_pwait2)"},
    {SYS_ptrace, "syscall(SYS_ptrace)"},
};

static void report_blocking(long number) {
    for (size_t i = 0; i < sizeof blocking / sizeof *blocking; i++)
        if (blocking[i].number == number)
            ew_report(blocking[i].name, "may block all threads: it is not controlled");
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
    default:
        report_blocking(call->number);
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
