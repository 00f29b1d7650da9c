// SPDX-License-Identifier: Apache-2.0
// vfork: the parent goes on when the child has gone; the child has the parent's descriptors alone.
#include "check.h"

#include <fcntl.h>
#include <sys/wait.h>

int main(void) {
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t child = vfork();
    CHECK(child >= 0);
    if (child == 0) {
        int next = open("/dev/null", O_RDONLY), after = open("/dev/null", O_RDONLY);
        _exit(next == ends[1] + 1 && after == next + 1 ? 4 : 5);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
    child = vfork();
    CHECK(child >= 0);
    if (child == 0) {
        execl("/nonexistent", "x", (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 127);
    CHECK(open("/dev/null", O_RDONLY) == ends[1] + 1);
    return 0;
}
