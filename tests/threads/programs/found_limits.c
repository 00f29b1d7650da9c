// SPDX-License-Identifier: Apache-2.0
// Does one thing very often; then two threads race on `counter`.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static volatile int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define SIZE (4 << 20)

static void *nothing(void *unused) {
    return unused;
}

static void create_and_join(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL))
        exit(3);
    pthread_join(thread, NULL);
}

// Each word has bytes of different pasts.
static void map_and_unmap(void) {
    char *block = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(block, 1, SIZE);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < SIZE; i += 4)
        block[i] = 2;
    munmap(block, SIZE);
}

static long resident(void) { // kilobytes
    char line[256];
    long size = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            size = atol(line + 6);
    return size;
}

static void *add(void *unused) {
    counter++;
    return unused;
}

int main(int count, char **arguments) {
    void (*does)(void) = strcmp(arguments[1], "threads") == 0 ? create_and_join : map_and_unmap;
    for (long i = atol(arguments[count - 1]); i > 0; i--)
        does();
    printf("%ld\n", resident());
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    counter++;
    pthread_join(thread, NULL);
    return 0;
}
