// SPDX-License-Identifier: Apache-2.0
// Two threads fill the pipe that the other is to empty, each before it empties its own.
#include <pthread.h>
#include <unistd.h>

static int ends[2][2];
static char much[1 << 18];

static void *fill(void *number) {
    long mine = (long)number;
    if (write(ends[mine][1], much, sizeof much) < 0)
        return number;
    while (read(ends[1 - mine][0], much, sizeof much) > 0)
        ;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    if (pipe(ends[0]) || pipe(ends[1]))
        return 1;
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fill, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
