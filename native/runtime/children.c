// SPDX-License-Identifier: Apache-2.0
// Waiting for child processes: other threads run meanwhile.
#include "at_work.h"
#include "debts.h"
#include "descriptors.h"
#include "family.h"
#include "input.h"
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

static int result(long value) {
    if (value < 0)
        errno = (int)-value;
    return value < 0 ? -1 : (int)value;
}

// Descriptors that become readable when a child ends: of one child, or of all there are.
static uint32_t open_one(long pid, struct pollfd *polled) {
    long fd = raw3(SYS_pidfd_open, pid, 0, 0);
    if (fd < 0)
        return 0;
    *polled = (struct pollfd){(int)fd, POLLIN, 0};
    return 1;
}

// The kernel's list, "123 456 "; more children than fit are looked at when some of these have
// ended.
static uint32_t open_all(struct pollfd *polled, uint32_t room) {
    static const char path[] = "/proc/thread-self/children";
    char text[4096];
    long fd = raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    long length = fd < 0 ? 0 : raw3(SYS_read, fd, (long)text, sizeof text);
    if (fd >= 0)
        raw1(SYS_close, fd);
    uint32_t count = 0;
    long pid = 0;
    for (long i = 0; i < length && count < room; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            pid = pid * 10 + (text[i] - '0');
        } else if (pid) {
            count += open_one(pid, &polled[count]);
            pid = 0;
        }
    }
    return count;
}

// Children may come while one waits for any.
void ew_child_made(void) {
    for (uint32_t i = 0; i < ew_thread_count(); i++) {
        struct ew_thread *thread = ew_thread_at(i);
        if (thread->state == EW_BLOCKED && thread->life.awaits_children)
            ew_unblock(thread, false);
    }
}

static void wait_on(struct pollfd *polled, uint32_t count, bool also_stops) {
    ew_self->life.awaits_children = true;
    if (also_stops)
        ew_wait_elsewhere(EW_NEVER); // which no descriptor shows
    else
        ew_wait_outside(polled, count, EW_NEVER);
    ew_self->life.awaits_children = false;
}

// One round of waiting; false when there is nothing to wait for that could be waited for.
static bool wait_for_an_end(long pid, int options) {
    struct pollfd polled[64];
    uint32_t count = pid > 0 ? open_one(ew_pid_real((pid_t)pid), polled) : open_all(polled, 64);
    for (uint32_t i = 0; i < count; i++)
        polled[i].fd = ew_out_of_the_way(polled[i].fd);
    if (count)
        wait_on(polled, count, options & (WUNTRACED | WCONTINUED));
    for (uint32_t i = 0; i < count; i++)
        raw1(SYS_close, polled[i].fd);
    ew_testcancel();
    return count != 0;
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

EW_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
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
        }
        if (got || options & WNOHANG || !wait_for_an_end(pid, options))
            return result(got);
        if (ew_interrupted(false))
            return result(-EINTR);
    }
}

EW_EXPORT pid_t wait3(int *status, int options, struct rusage *usage) {
    return wait4(-1, status, options, usage);
}

EW_EXPORT pid_t waitpid(pid_t pid, int *status, int options) {
    return wait4(pid, status, options, NULL);
}

EW_EXPORT pid_t wait(int *status) {
    return wait4(-1, status, 0, NULL);
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
        if (error || seen.si_pid || options & WNOHANG ||
            !wait_for_an_end(type == P_PID ? (long)id : -1, options)) {
            if (error == 0 && info)
                *info = seen;
            return result(error);
        }
        if (ew_interrupted(false))
            return result(-EINTR);
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
    return result(told);
}
