// SPDX-License-Identifier: Apache-2.0
// Which of two threads comes last decides how the program ends; the argument says in which way.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int last;

static void *come(void *number) {
    atomic_store(&last, (int)(long)number);
    return NULL;
}

// Others may do something between the look and the end.
static void *leave(void *unused) {
    if (atomic_load(&last) == 0)
        exit(7);
    return unused;
}

// It comes to no decision point.
__attribute__((no_sanitize("thread"), noinline)) static void compute(void) {
    for (volatile long i = 0; i < 1000000; i++)
        ;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    pthread_t one, two;
    pthread_create(&one, NULL, come, (void *)1);
    pthread_create(&two, NULL, strcmp(how, "leave") == 0 ? leave : come, (void *)2);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    while (strcmp(how, "never") == 0)
        compute();
    if (strcmp(how, "leave") == 0)
        return 0;
    if (strcmp(how, "always") == 0)
        return 3;
    if (strcmp(how, "none well") == 0)
        return atomic_load(&last);
    if (strcmp(how, "early") == 0)
        return atomic_load(&last) == 2 ? 7 : 0;
    if (atomic_load(&last) == 2)
        return 0;
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "abort") == 0)
        abort();
    while (strcmp(how, "hang") == 0)
        atomic_load(&last);
    while (strcmp(how, "deaf") == 0)
        compute();
    return 7;
}
