// SPDX-License-Identifier: Apache-2.0
// Ordered: a signal comes when it is sent. One that is sent to a thread which is held at a call
// would come behind that call; so such a thread is sent back to before it, and meets the signal
// there.
#include <sys/syscall.h>

#include "tracer.h"

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

void signals_after(const struct thread *thread, int64_t result) {
    if (!gate_is_ordered() || result != 0 || !signals_sends(thread->call.number))
        return;
    bool by_descriptor = thread->call.number == SYS_pidfd_send_signal;
    struct sent sent = {thread, (pid_t)(by_descriptor ? thread->call.value : thread->call.a0)};
    threads_each(send_back, &sent);
}

bool signals_try_again(struct thread *thread) {
    if (!thread->sent_back)
        return false;
    thread->sent_back = false;
    stop_again(thread->id, thread->call.number);
    return true;
}
