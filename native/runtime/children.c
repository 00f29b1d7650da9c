// SPDX-License-Identifier: Apache-2.0
// Waiting for child processes: other threads run meanwhile.
#include "at_work.h"
#include "debts.h"
#include "descriptors.h"
#include "family.h"
#include "input.h"
#include "libc.h"
#include "pids.h"
#include "placeholder.h"
#include "sync.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#define CHILDREN 64 // that are waited for at once

static uint32_t close_all(const struct pollfd *polled, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        raw1(SYS_close, polled[i].fd);
    return 0;
}

// Descriptors that become readable when a child ends: of one child, or of all there are.
static uint32_t open_one(long pid, struct pollfd *polled) {
    long fd = raw3(SYS_pidfd_open, pid, 0, 0);
    if (fd < 0)
        return 0;
    *polled = (struct pollfd){(int)fd, POLLIN, 0};
    return 1;
}

// The kernel's list, "123 456 ". None, when they are more than that.
static uint32_t open_all(struct pollfd polled[CHILDREN]) {
    static const char path[] = "/proc/thread-self/children";
    char text[(CHILDREN + 1) * sizeof "4194304"];
    long fd = raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    long length = fd < 0 ? 0 : raw3(SYS_read, fd, (long)text, sizeof text);
    if (fd >= 0)
        raw1(SYS_close, fd);
    uint32_t children = 0, count = 0;
    long pid = 0;
    for (long i = 0; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            pid = pid * 10 + (text[i] - '0');
        } else if (pid) {
            if (children++ < CHILDREN)
                count += open_one(pid, &polled[count]);
            pid = 0;
        }
    }
    return children == count ? count : close_all(polled, count);
}

// Children may come while one waits for any.
void ew_child_made(void) {
    for (uint32_t i = 0; i < ew_thread_count(); i++) {
        struct ew_thread *thread = ew_thread_at(i);
        if (thread->state == EW_BLOCKED && thread->life.awaits_children)
            ew_unblock(thread, false);
    }
}

struct ends {
    struct pollfd polled[CHILDREN];
    uint32_t count;
};

static void end_wait(void *argument) {
    const struct ends *ends = argument;
    ew_self->life.awaits_children = false;
    close_all(ends->polled, ends->count);
}

// None of them: no descriptor shows that one stops; there may be too many; the program may have no
// descriptors left, or the machine no /proc. Then it is looked again and again.
static uint32_t open_those(long pid, int options, struct pollfd polled[CHILDREN]) {
    if (options & (WUNTRACED | WCONTINUED))
        return 0;
    uint32_t count = pid > 0 ? open_one(ew_pid_real((pid_t)pid), polled) : open_all(polled);
    for (uint32_t i = 0; i < count; i++)
        polled[i].fd = ew_out_of_the_way(polled[i].fd);
    return count;
}

// One round of waiting: there are children, but none has ended.
static void wait_for_an_end(long pid, int options) {
    struct ends ends;
    ends.count = open_those(pid, options, ends.polled);
    long by_descriptor = ends.count != 0;
    ew_input(EW_INPUT_RESULT, &by_descriptor, sizeof by_descriptor, sizeof by_descriptor);
    ew_self->life.awaits_children = true;
    EW_AFTERWARDS(end_wait, &ends);
    if (by_descriptor)
        ew_wait_outside(ends.polled, ends.count, EW_NEVER);
    else
        ew_wait_elsewhere(EW_NEVER);
}

#define LOOK 100 // milliseconds
#define RESTS 50 // looks

// One that is not ours may wait for what does not come in a replay.
static void until_over(pid_t child, bool may_rest) {
    long end = raw3(SYS_pidfd_open, child, 0, 0);
    int rested = 0;
    while (end >= 0 && !ew_debts_until((int)end, POLLIN, LOOK)) {
        rested = may_rest && !ew_at_work(child) ? rested + 1 : 0;
        if (rested == RESTS)
            raw3(SYS_kill, child, SIGKILL, 0);
    }
    raw1(SYS_close, end);
}

// A replay takes the end of a child from the recording; its own child must have come so far too,
// lest what it writes comes later than it did. Who sent what killed it may not be here to do it.
static void end_again(pid_t told, int status, bool kept) {
    siginfo_t info;
    pid_t child = ew_pid_real(told);
    if (WIFSIGNALED(status) && !ew_family_follows(told)) {
        ew_family_until_became(child);
        raw3(SYS_kill, child, SIGKILL, 0);
    }
    until_over(child, !ew_family_follows(told));
    raw6(SYS_waitid, P_PID, child, (long)&info, WEXITED | (kept ? WNOWAIT : 0), 0, 0);
}

static void ended(pid_t told, int status, bool kept) {
    if (!WIFEXITED(status) && !WIFSIGNALED(status))
        return; // stopped or gone on
    if (ew_replaying)
        end_again(told, status, kept);
    ew_family_ended(ew_pid_real(told), status);
    if (!kept)
        ew_pid_over(told);
}

static int status_of(const siginfo_t *info) {
    if (info->si_code == CLD_EXITED)
        return (info->si_status & 0xFF) << 8;
    bool killed = info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED;
    return killed ? info->si_status : 0x7F; // as if stopped
}

static void touch_told(const int *status, const struct rusage *usage, const void *pc) {
    if (status)
        ew_touch(EW_OP_STORE, status, sizeof *status, pc);
    if (usage)
        ew_touch(EW_OP_STORE, usage, sizeof *usage, pc);
}

static pid_t await(pid_t pid, int *status, int options, struct rusage *usage, const void *pc) {
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    for (;;) {
        int how = 0;
        struct rusage used = {0};
        long got = ew_input_call(SYS_wait4, pid, (long)&how, options | WNOHANG, (long)&used, 0, 0);
        if (got > 0) {
            ew_input(EW_INPUT_DATA, &how, sizeof how, sizeof how);
            ew_input(EW_INPUT_DATA, &used, sizeof used, sizeof used);
            ended((pid_t)got, how, false);
            if (status)
                *status = how;
            if (usage)
                *usage = used;
            touch_told(status, usage, pc);
        }
        if (got || options & WNOHANG)
            return (int)ew_result(got);
        wait_for_an_end(pid, options);
        ew_testcancel();
        if (ew_interrupted(false))
            return (int)ew_result(-EINTR);
    }
}

EW_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    return await(pid, status, options, usage, PC);
}

EW_EXPORT pid_t wait3(int *status, int options, struct rusage *usage) {
    return await(-1, status, options, usage, PC);
}

EW_EXPORT pid_t waitpid(pid_t pid, int *status, int options) {
    return await(pid, status, options, NULL, PC);
}

EW_EXPORT pid_t wait(int *status) {
    return await(-1, status, 0, NULL, PC);
}

EW_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    for (;;) {
        siginfo_t seen = {0};
        long error = ew_input_call(SYS_waitid, type, id, (long)&seen, options | WNOHANG, 0, 0);
        if (error == 0) {
            ew_input(EW_INPUT_DATA, &seen, sizeof seen, sizeof seen);
            if (seen.si_pid)
                ended(seen.si_pid, status_of(&seen), options & WNOWAIT);
        }
        if (error || seen.si_pid || options & WNOHANG) {
            if (error == 0 && info)
                *info = seen;
            return (int)ew_result(error);
        }
        wait_for_an_end(type == P_PID ? (long)id : -1, options);
        ew_testcancel();
        if (ew_interrupted(false))
            return (int)ew_result(-EINTR);
    }
}

// --- descriptors of processes

// In a replay what was another's process is nobody's.
EW_EXPORT int pidfd_open(pid_t pid, unsigned flags) {
    long descriptor = raw3(SYS_pidfd_open, ew_pid_real(pid), flags, 0);
    long told = descriptor;
    ew_input(EW_INPUT_RESULT, &told, sizeof told, sizeof told);
    if (descriptor != told && descriptor >= 0)
        raw1(SYS_close, descriptor);
    if (descriptor != told && told >= 0)
        ew_placeholder((int)told, S_IFSOCK, 0, O_CLOEXEC | (int)flags);
    return (int)ew_result(told);
}
