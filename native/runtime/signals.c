// SPDX-License-Identifier: Apache-2.0
// Signals to threads. The kernel knows one thread only, so who is meant is decided here.
#include "threads.h"

#include <errno.h>
#include <signal.h>

EW_EXPORT int pthread_kill(pthread_t handle, int signal) {
    struct ew_thread *thread = ew_thread_of(handle);
    if (!thread || thread->state == EW_ENDED)
        return ESRCH;
    if (signal < 0 || signal > 64)
        return EINVAL;
    ew_point(EW_WHY_SYNC);
    if (signal == 0)
        return 0;
    return (int)-raw3(SYS_kill, raw1(SYS_getpid, 0), signal, 0);
}
