// SPDX-License-Identifier: Apache-2.0
// Ordered: a signal comes when it is sent. One that is sent to a thread which is held at a call
// would come behind that call; so such a thread is sent back to before it, and meets the signal
// there.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer.h"

enum { MADE_AGAIN = -514 }; // ERESTARTNOHAND, which programs never see

bool signals_sends(uint64_t number) {
    return number == SYS_kill || number == SYS_tkill || number == SYS_tgkill ||
           number == SYS_rt_sigqueueinfo || number == SYS_rt_tgsigqueueinfo ||
           number == SYS_pidfd_send_signal;
}

struct sent {
    const struct thread *sender;
    pid_t to; // a process or a thread; 0 and below: not one alone
};

static void send_back(struct thread *thread, void *context) {
    const struct sent *sent = context;
    bool meant = sent->to <= 0 || sent->to == thread->process || sent->to == thread->id;
    if (thread == sent->sender || thread->where != HELD || !meant)
        return;
    thread->where = ABOUT;
    thread->sent_back = true;
    stop_skip(thread->id, 0);
    thread_goes(thread);
    stop_go(thread->id, true, 0);
}

void signals_to(pid_t process) {
    struct sent sent = {NULL, process};
    threads_each(send_back, &sent);
}

void signals_after(const struct thread *thread, int64_t result) {
    if (!gate_is_ordered() || result != 0 || !signals_sends(thread->call.number))
        return;
    bool by_descriptor = thread->call.number == SYS_pidfd_send_signal;
    struct sent sent = {thread, (pid_t)(by_descriptor ? thread->call.value : thread->call.a0)};
    threads_each(send_back, &sent);
}

// "SigPnd:\t0000000000000000\n", as a set.
static uint64_t set_of(const char *text, const char *name) {
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

static uint64_t in_set(int signal) {
    return 1ull << (signal - 1);
}

// A signal that nobody cares for would not have woken who is not traced.
static bool was_woken_for_nothing(const struct thread *thread) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread->id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    uint64_t quiet = in_set(SIGCHLD) | in_set(SIGCONT) | in_set(SIGURG) | in_set(SIGWINCH);
    uint64_t ignored = set_of(text, "\nSigIgn:") | (quiet & ~set_of(text, "\nSigCgt:"));
    uint64_t pending = set_of(text, "\nSigPnd:") | set_of(text, "\nShdPnd:");
    pending &= ~set_of(text, "\nSigBlk:");
    return pending && !(pending & ~ignored);
}

bool signals_make_again(const struct thread *thread, int64_t *result) {
    if (*result != -EINTR || !was_woken_for_nothing(thread))
        return false;
    *result = MADE_AGAIN;
    stop_again(thread->id, thread->call.number);
    return true;
}

bool signals_try_again(struct thread *thread) {
    if (!thread->sent_back)
        return false;
    thread->sent_back = false;
    stop_again(thread->id, thread->call.number);
    return true;
}
