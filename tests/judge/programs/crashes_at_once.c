// SPDX-License-Identifier: Apache-2.0
// Nothing is decided any more between the second access of a race and the crash that it leads to.
#include <eitherway.h>
#include <pthread.h>
#include <string.h>

static int ready, breaks;

static void *set(void *unused) {
    ready = 1;
    return unused;
}

static void *look(void *unused) {
    int seen = ready;
    if (breaks)
        EITHERWAY_INVARIANT(!seen);
    else if (seen)
        *(volatile int *)NULL = 1;
    return unused;
}

int main(int count, char **arguments) {
    breaks = count > 1 && strcmp(arguments[1], "invariant") == 0;
    pthread_t one, other;
    pthread_create(&one, NULL, set, NULL);
    pthread_create(&other, NULL, look, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
