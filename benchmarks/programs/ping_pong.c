// SPDX-License-Identifier: Apache-2.0
// Two processes hand one byte to and fro through two pipes: ROUNDS.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void hand_on(int from, int to) {
    char byte;
    if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
        _exit(1);
}

int main(int count, char **arguments) {
    int there[2], back[2], status;
    char byte = 'x';
    long rounds = count > 1 ? atol(arguments[1]) : 1;
    if (pipe(there) || pipe(back))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        for (long i = 0; i < rounds; i++)
            hand_on(there[0], back[1]);
        _exit(0);
    }
    if (write(there[1], &byte, 1) != 1)
        return 1;
    for (long i = 1; i < rounds; i++)
        hand_on(back[0], there[1]);
    if (read(back[0], &byte, 1) != 1 || waitpid(child, &status, 0) != child || status)
        return 1;
    printf("%ld\n", rounds);
    return 0;
}
