// SPDX-License-Identifier: Apache-2.0
// Descriptors that a program makes for itself: no outside behind them as long as it is alone.
#include "transfer.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int made(long error, const int ends[2]) {
    if (error < 0)
        return (int)ew_result(error);
    ew_made_within(ends);
    return 0;
}

EW_EXPORT int pipe2(int ends[2], int flags) {
    return made(raw3(SYS_pipe2, (long)ends, flags, 0), ends);
}

EW_EXPORT int pipe(int ends[2]) {
    return pipe2(ends, 0);
}

EW_EXPORT int socketpair(int domain, int type, int protocol, int ends[2]) {
    return made(raw6(SYS_socketpair, domain, type, protocol, (long)ends, 0, 0), ends);
}

EW_EXPORT int eventfd(unsigned count, int flags) {
    long fd = raw3(SYS_eventfd2, count, flags, 0);
    if (fd >= 0)
        ew_numbered_within((int)fd);
    return (int)ew_result(fd);
}
