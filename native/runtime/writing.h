// SPDX-License-Identifier: Apache-2.0
// Writing until all is written.
#ifndef EITHERWAY_WRITING_H
#define EITHERWAY_WRITING_H

#include "transfer.h"

// What writev takes, or sendmsg when there is a message.
struct ew_writing {
    const struct iovec *parts;
    size_t count;
    const struct msghdr *message; // name and control data that go with it, or NULL
    int flags;                    // of send
    const void *pc;               // NULL: not the program's
    bool listed;                  // parts and message are lists of the program's own
};

// Returns how many bytes, or -errno.
long ew_write(int fd, const struct ew_writing *writing);

#endif
