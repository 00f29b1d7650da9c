// SPDX-License-Identifier: Apache-2.0
// Leaves a daemon in a session of its own, which holds standard output open, and tells its number.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int ends[2], daemon = 0;
    if (pipe(ends))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        daemon = fork();
        if (daemon == 0)
            for (;;)
                pause();
        _exit(write(ends[1], &daemon, sizeof daemon) != sizeof daemon);
    }
    waitpid(child, NULL, 0);
    if (read(ends[0], &daemon, sizeof daemon) != sizeof daemon)
        return 2;
    printf("%d\n", daemon);
    return 0;
}
