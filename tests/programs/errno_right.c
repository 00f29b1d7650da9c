// SPDX-License-Identifier: Apache-2.0
// errno is one for each thread: both fail in different ways and see their own.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void *close_nothing(void *unused) {
    assert(close(-1) == -1);
    assert(errno == EBADF);
    return unused;
}

static void *open_nothing(void *unused) {
    assert(open("/nonexistent/file", O_RDONLY) == -1);
    assert(errno == ENOENT);
    return unused;
}

int main(void) {
    TOGETHER(close_nothing, open_nothing);
    return 0;
}
