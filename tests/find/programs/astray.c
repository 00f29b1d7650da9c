// SPDX-License-Identifier: Apache-2.0
// One thread shows a small block while another writes behind its end, where the allocator has room.
#include <pthread.h>
#include <stdlib.h>

static char *shown;

static void *show(void *unused) {
    shown = malloc(4);
    return unused;
}

static void *fill(void *unused) {
    if (shown)
        shown[0] = shown[12] = 1;
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, show, NULL);
    pthread_create(&other, NULL, fill, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
