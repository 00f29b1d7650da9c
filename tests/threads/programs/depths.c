// SPDX-License-Identifier: Apache-2.0
// A failure that needs so many orders between the operations of two threads (1 to 3), beside a
// third thread that only has the same work.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int x, other;
static int depth;

static void *writer(void *unused) {
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return unused;
}

static void *reader(void *unused) {
    int first = atomic_load(&x);
    int second = atomic_load(&x);
    if (depth == 1 ? first != 0 : depth == 2 ? first == 1 : first == 1 && second == 2)
        puts("fails");
    return unused;
}

static void *bystander(void *unused) {
    atomic_store(&other, 1);
    atomic_store(&other, 2);
    return unused;
}

int main(int count, char **arguments) {
    depth = count > 1 ? atoi(arguments[1]) : 1;
    void *(*const functions[])(void *) = {writer, reader, bystander};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
