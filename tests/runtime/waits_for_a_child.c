// SPDX-License-Identifier: Apache-2.0
// Waits for lines of another process, with a limit that is far away, and prints the time after
// each.
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(void) {
    int there[2], back[2];
    char line[16];
    if (pipe(there) || pipe(back))
        return 1;
    if (fork() == 0) {
        dup2(back[0], 0);
        dup2(there[1], 1);
        execl("/bin/sh", "sh", "-c", "for i in 1 2 3; do echo $i; read word; done", (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 3; i++) {
        struct pollfd one = {there[0], POLLIN, 0};
        struct timespec now;
        if (poll(&one, 1, 600000) != 1 || read(there[0], line, sizeof line) != 2)
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &now);
        printf("%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
        if (write(back[1], "go\n", 3) != 3)
            return 1;
    }
    return 0;
}
