// SPDX-License-Identifier: Apache-2.0
// Each of its processes makes others for ever, each in a session of its own. When no more fit, who
// has one waits until that is gone, and makes another: whoever tried all the time would keep the
// whole machine from starting anything.
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    for (;;) {
        pid_t child = fork();
        if (child == 0)
            setsid();
        else if (child < 0 && wait(NULL) < 0)
            pause();
    }
}
