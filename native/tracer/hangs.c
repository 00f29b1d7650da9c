// SPDX-License-Identifier: Apache-2.0
// Whether nothing can wake those who all sleep. Each sleeps in a call that only another of them
// could end: then nobody need be waited for. Where time, a device or anything outside might end a
// call, or where that cannot be told, all wait as long as patience lasts.
//
// Outside there is nobody when files, network and processes are kept apart (--apart): pipes but
// standard output and error, what lies in an overlay, sockets and locks there are the tree's own.
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "call_table.h"
#include "tracer.h"

enum { PATH_SIZE = 4096, POLLED_MAX = 256, NESTED_MAX = 4 };

static bool apart; // from all that is outside
static bool timed; // one has set a timer, or asked for what is done later

void hangs_begin(bool is_apart) {
    apart = is_apart;
}

void hangs_notice(uint64_t number, uint64_t argument) {
    if (number == SYS_alarm)
        timed |= argument != 0;
    else
        timed |= number == SYS_setitimer || number == SYS_timer_settime ||
                 number == SYS_timerfd_settime || number == SYS_io_uring_setup ||
                 number == SYS_io_setup;
}

static enum wakes later(enum wakes one, enum wakes other) {
    return one > other ? one : other;
}

// ---- what a descriptor leads to

static bool is_in_overlay(const char *path) {
    struct statfs system;
    return statfs(path, &system) == 0 && (uint32_t)system.f_type == OVERLAYFS_SUPER_MAGIC;
}

// What is written there is taken by who started us.
static bool is_ours(const struct stat *status) {
    struct stat ours;
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++)
        if (fstat(descriptor, &ours) == 0 && ours.st_dev == status->st_dev &&
            ours.st_ino == status->st_ino)
            return true;
    return false;
}

// A FIFO that has a name is the tree's own when it lies in the overlay.
static enum wakes wakes_pipe(const char *path, const struct stat *status) {
    struct statfs system;
    if (is_ours(status) || statfs(path, &system) < 0)
        return BY_OTHERS;
    bool nameless = (uint32_t)system.f_type == PIPEFS_MAGIC;
    return nameless || is_in_overlay(path) ? BY_NOBODY : BY_OTHERS;
}

static bool has_timeout(int socket) {
    static const int names[] = {SO_RCVTIMEO, SO_SNDTIMEO};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct timeval time = {0};
        socklen_t length = sizeof time;
        if (getsockopt(socket, SOL_SOCKET, names[i], &time, &length) < 0 || time.tv_sec ||
            time.tv_usec)
            return true;
    }
    return false;
}

// On the way between two sockets of the Internet something may still be sent again.
static enum wakes wakes_socket(const struct thread *thread, int descriptor) {
    int process = (int)syscall(SYS_pidfd_open, thread->process, 0);
    int socket = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
    int domain = -1;
    socklen_t length = sizeof domain;
    enum wakes wakes = BY_OTHERS;
    if (socket >= 0 && getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
        !has_timeout(socket))
        wakes = domain == AF_UNIX                         ? BY_NOBODY
                : domain == AF_INET || domain == AF_INET6 ? BY_PACKETS
                                                          : BY_OTHERS;
    if (socket >= 0)
        close(socket);
    if (process >= 0)
        close(process);
    return wakes;
}

static enum wakes wakes_descriptor(const struct thread *thread, int descriptor, int nested);

// "tfd:        5 events:       19 data: ... ino:61ef sdev:7", for each that is waited for.
static enum wakes wakes_watched(const struct thread *thread, const char *line, int nested) {
    int descriptor;
    unsigned long inode;
    char path[64];
    struct stat status;
    const char *at = strstr(line, "ino:");
    if (!at || sscanf(line, "tfd: %d", &descriptor) != 1 || sscanf(at, "ino:%lx", &inode) != 1)
        return BY_OTHERS;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->id, descriptor);
    if (stat(path, &status) < 0 || status.st_ino != inode) // it is known by another number now
        return BY_OTHERS;
    return wakes_descriptor(thread, descriptor, nested + 1);
}

static enum wakes wakes_epoll(const struct thread *thread, int descriptor, int nested) {
    char path[64], line[512];
    enum wakes wakes = BY_NOBODY;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)thread->id, descriptor);
    FILE *file = nested < NESTED_MAX ? fopen(path, "re") : NULL;
    if (!file)
        return BY_OTHERS;
    while (wakes != BY_OTHERS && fgets(line, sizeof line, file))
        if (strncmp(line, "tfd:", 4) == 0)
            wakes = later(wakes, wakes_watched(thread, line, nested));
    fclose(file);
    return wakes;
}

// Who set a timer is waited for: a timerfd here is one that was never set.
static enum wakes wakes_nameless(const struct thread *thread, int descriptor, const char *name,
                                 int nested) {
    static const char *const quiet[] = {"[eventfd]", "[signalfd]", "[pidfd]", "[timerfd]"};
    if (strcmp(name, "[eventpoll]") == 0)
        return wakes_epoll(thread, descriptor, nested);
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        if (strcmp(name, quiet[i]) == 0)
            return BY_NOBODY;
    return BY_OTHERS;
}

static enum wakes wakes_descriptor(const struct thread *thread, int descriptor, int nested) {
    static const char nameless[] = "anon_inode:";
    char path[64], name[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->id, descriptor);
    if (stat(path, &status) < 0)
        return BY_OTHERS;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        return BY_NOBODY; // nobody sleeps at it
    if (S_ISFIFO(status.st_mode))
        return wakes_pipe(path, &status);
    if (S_ISSOCK(status.st_mode))
        return wakes_socket(thread, descriptor);
    ssize_t length = readlink(path, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    if (strncmp(name, nameless, sizeof nameless - 1) != 0)
        return BY_OTHERS;
    return wakes_nameless(thread, descriptor, name + sizeof nameless - 1, nested);
}

// ---- what a call waits for

// Of poll and select those that were asked for are noted where the call began.
static enum wakes wakes_polled(const struct thread *thread) {
    static struct pollfd polled[POLLED_MAX];
    uint32_t noted = (uint32_t)thread->call.value;
    size_t length = noted ? text_length(noted) : 0;
    size_t asked = thread->call.number == SYS_poll || thread->call.number == SYS_ppoll
                       ? thread->call.a1
                       : length / sizeof *polled;
    if (length >= sizeof polled || asked != length / sizeof *polled)
        return BY_OTHERS;
    memcpy(polled, text_of_number(noted), length);
    enum wakes wakes = BY_NOBODY;
    for (size_t i = 0; wakes != BY_OTHERS && i < asked; i++)
        if (polled[i].fd >= 0)
            wakes = later(wakes, wakes_descriptor(thread, polled[i].fd, 0));
    return wakes;
}

static enum wakes wakes_streams(const struct thread *thread) {
    const uint64_t *arguments = &thread->call.a0;
    enum wakes wakes = BY_NOBODY;
    bool any = false;
    for (int i = 0; i < ARGUMENTS; i++) {
        unsigned takes = thread->shape->takes[i];
        if (takes != TAKES_DESCRIPTOR && takes != TAKES_SECOND_DESCRIPTOR)
            continue;
        any = true;
        wakes = later(wakes, wakes_descriptor(thread, (int)arguments[i], 0));
    }
    return any ? wakes : BY_OTHERS;
}

// An open waits for the other end of a FIFO.
static enum wakes wakes_open(const struct thread *thread) {
    char path[PATH_SIZE], whole[PATH_SIZE + 64], from[32] = "cwd";
    struct stat status;
    bool at = thread->call.number != SYS_open;
    if (memory_text(thread->id, at ? thread->call.a1 : thread->call.a0, path, sizeof path) <= 0)
        return BY_OTHERS;
    if (*path == '/')
        strcpy(from, "root");
    else if (at && (int)thread->call.a0 != AT_FDCWD)
        snprintf(from, sizeof from, "fd/%d", (int)thread->call.a0);
    snprintf(whole, sizeof whole, "/proc/%d/%s/%s", (int)thread->id, from, path);
    bool fifo = stat(whole, &status) == 0 && S_ISFIFO(status.st_mode);
    return fifo && is_in_overlay(whole) ? BY_NOBODY : BY_OTHERS;
}

static enum wakes wakes_lock(const struct thread *thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->id, (int)thread->call.a0);
    return is_in_overlay(path) ? BY_NOBODY : BY_OTHERS;
}

// Of a futex, by its arguments: without an end, and not for one that is requeued.
static bool waits_in_memory(uint64_t operation, uint64_t timeout) {
    uint64_t command = operation & FUTEX_CMD_MASK;
    return !timeout && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
                        command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2);
}

static enum wakes if_endless(bool endless, enum wakes wakes) {
    return endless ? wakes : BY_OTHERS;
}

static enum wakes wakes_call(const struct thread *thread) {
    const struct ew_process_call *call = &thread->call;
    switch (call->number) {
    case SYS_wait4:
    case SYS_waitid:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_semop:
        return BY_NOBODY;
    case SYS_semtimedop:
        return if_endless(!call->a3, BY_NOBODY);
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
        return if_endless(!call->a4, BY_NOBODY);
    case SYS_rt_sigtimedwait:
        return if_endless(!call->a2, BY_NOBODY);
    case SYS_futex:
        return if_endless(waits_in_memory(call->a1, call->a3), BY_NOBODY);
    case SYS_flock:
    case SYS_fcntl:
        return wakes_lock(thread);
    case SYS_poll:
        return if_endless((int)call->a2 < 0, wakes_polled(thread));
    case SYS_ppoll:
        return if_endless(!call->a2, wakes_polled(thread));
    case SYS_select:
    case SYS_pselect6:
        return if_endless(!call->a4, wakes_polled(thread));
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return if_endless((int)call->a3 < 0, wakes_descriptor(thread, (int)call->a0, 0));
    case SYS_epoll_pwait2:
        return if_endless(!call->a3, wakes_descriptor(thread, (int)call->a0, 0));
    case SYS_recvmmsg:
        return if_endless(!call->a4, wakes_streams(thread));
    case SYS_accept:
    case SYS_accept4:
        return wakes_streams(thread);
    case SYS_open:
    case SYS_openat:
        return wakes_open(thread);
    default:
        return thread->shape->waits == WAITS_STREAM ? wakes_streams(thread) : BY_OTHERS;
    }
}

// A call that is not seen to begin: "202 0x7f... 0x80 0x2 0x0 ...".
static enum wakes wakes_unseen(const struct thread *thread) {
    char text[256];
    unsigned long long number, arguments[4];
    ssize_t length = thread->syscall > 0 ? pread(thread->syscall, text, sizeof text - 1, 0) : 0;
    text[length > 0 ? length : 0] = '\0';
    bool futex = sscanf(text, "%llu %llx %llx %llx %llx", &number, &arguments[0], &arguments[1],
                        &arguments[2], &arguments[3]) == 5 &&
                 number == SYS_futex;
    return if_endless(futex && waits_in_memory(arguments[1], arguments[3]), BY_NOBODY);
}

static void consider_wakes(struct thread *thread, void *context) {
    enum wakes *wakes = context;
    if (*wakes == BY_OTHERS || thread->suspended) // only another one lets it go on
        return;
    if (thread->waiting || thread->where == HELD)
        *wakes = BY_OTHERS;
    else if (thread->lends) // a vfork, until the child has its own memory
        return;
    else
        *wakes =
            later(*wakes, thread->where == IN_CALL ? wakes_call(thread) : wakes_unseen(thread));
}

static void consider_later(struct thread *thread, void *context) {
    bool *later = context;
    bool sleeps = thread->where == IN_CALL && call_waits_for_time(thread);
    if (!*later || thread->suspended || thread->where == HELD || thread->lends || sleeps)
        return;
    enum wakes wakes = thread->where == IN_CALL ? wakes_call(thread) : wakes_unseen(thread);
    *later = !thread->waiting && wakes == BY_NOBODY;
}

bool hangs_until_later(void) {
    bool later = apart;
    threads_each(consider_later, &later);
    return later;
}

enum wakes hangs_wait_for(void) {
    enum wakes wakes = apart && !timed ? BY_NOBODY : BY_OTHERS;
    threads_each(consider_wakes, &wakes);
    return wakes;
}
