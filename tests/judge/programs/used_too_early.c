// SPDX-License-Identifier: Apache-2.0
// Nothing is decided any more between the first access of a race and the crash that it leads to.
#include <pthread.h>
#include <stddef.h>

static int port = 80;
static int *volatile config;
static volatile int used;

static void *serve(void *unused) {
    used = *config;
    return unused;
}

int main(void) {
    pthread_t server;
    pthread_create(&server, NULL, serve, NULL);
    config = &port;
    pthread_join(server, NULL);
    return 0;
}
