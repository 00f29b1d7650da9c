// SPDX-License-Identifier: Apache-2.0
// Accesses of every width, whose values a trace is to tell.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int8_t one;
int16_t two;
int32_t four;
int64_t eight;
__int128 sixteen;
int counted; // atomic
struct block {
    char text[40];
} from = {"forty bytes, the same in every run"}, to;

static void *count(void *rounds) {
    for (long i = 0; i < (long)rounds; i++)
        __atomic_fetch_add(&counted, 10, __ATOMIC_SEQ_CST);
    return NULL;
}

__attribute__((noinline)) static int deep(int depth) {
    return depth ? deep(depth - 1) + 1 : four;
}

// What is given back before anything else happens: nobody can look at it any more.
static void store_and_give_back(void) {
    volatile int *gone =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *gone = 5;
    munmap((void *)gone, 4096);
    four = 444444;
}

int main(void) {
    pthread_t thread;
    one = -1;
    two = 22222;
    store_and_give_back();
    eight = (int64_t)four * 1000000;
    sixteen = (__int128)eight << 64;
    to = from;
    deep(5);
    pthread_create(&thread, NULL, count, (void *)3);
    count((void *)3);
    pthread_join(thread, NULL);
    int expected = 60;
    __atomic_compare_exchange_n(&counted, &expected, 61, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return one == -1 && to.text[0] == 'f' ? 0 : 1;
}
