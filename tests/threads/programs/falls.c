// SPDX-License-Identifier: Apache-2.0
// A server that aborts: when it reads "now", else when it is told to end.
//
//   falls PIPE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void fall(int number) {
    (void)number;
    abort();
}

int main(int count, char **arguments) {
    char first = 0;
    signal(SIGTERM, fall);
    int pipe = count > 1 ? open(arguments[1], O_RDWR) : -1;
    if (read(pipe, &first, 1) == 1 && first == 'n')
        abort();
    for (;;)
        pause();
}
