// SPDX-License-Identifier: Apache-2.0
// thread_runs COMMAND: a shell, run by a thread that is not the first; it takes the first one's
// number.
#include <pthread.h>
#include <unistd.h>

static void *runs(void *command) {
    execl("/bin/sh", "sh", "-c", (const char *)command, (char *)NULL);
    return NULL;
}

int main(int count, char **words) {
    pthread_t thread;
    if (count != 2 || pthread_create(&thread, NULL, runs, words[1]) != 0)
        return 1;
    for (;;)
        pause();
}
