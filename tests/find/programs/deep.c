// SPDX-License-Identifier: Apache-2.0
// A race below a recursion of a twenty thousand calls.
#include <pthread.h>

static int counter;
static volatile int depth;

static int down(int more) {
    if (more == 0)
        return counter++;
    int reached = down(more - 1) + 1;
    depth = reached;
    return reached;
}

static void *deep(void *unused) {
    down(20000);
    return unused;
}

static void *flat(void *unused) {
    counter++;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 64ul << 20);
    pthread_create(&threads[0], &large, deep, NULL);
    pthread_create(&threads[1], NULL, flat, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
