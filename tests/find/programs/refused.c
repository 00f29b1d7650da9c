// SPDX-License-Identifier: Apache-2.0
// Asks for a second thread of gcc's OpenMP, which cannot be controlled: always, or where main is
// first.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int first;

static int is_first(int who) {
    int nobody = 0;
    return atomic_compare_exchange_strong(&first, &nobody, who);
}

static void *other(void *nothing) {
    is_first(2);
    return nothing;
}

int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    int goes = is_first(1) || (argc > 1 && strcmp(argv[1], "always") == 0);
    if (goes) {
#pragma omp parallel num_threads(2)
        atomic_fetch_add(&first, 0);
    }
    pthread_join(thread, NULL);
    return 0;
}
