// SPDX-License-Identifier: Apache-2.0
// Races beside what comes from outside; the first argument says which.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *work(void *);

static void run(work *first, work *second) {
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static unsigned long drawn(void) {
    unsigned long number = 0;
    int source = open("/dev/urandom", O_RDONLY);
    if (read(source, &number, sizeof number) != sizeof number)
        abort();
    close(source);
    return number;
}

static int hint, counter;
static unsigned long numbers[2];

static void *draws(void *unused) {
    hint = 1;
    numbers[0] = drawn();
    return unused;
}
static void *draws_too(void *unused) {
    hint = 1;
    numbers[1] = drawn();
    return unused;
}
// Each thread draws a number, whoever comes first.
static void same_numbers(void) {
    run(draws, draws_too);
    printf("%lx %lx\n", numbers[0], numbers[1]);
}

static void *counts(void *unused) {
    counter++;
    numbers[0] = drawn();
    return unused;
}
static void *counts_too(void *unused) {
    counter++;
    numbers[1] = drawn();
    return unused;
}
static void numbers_and_count(void) {
    run(counts, counts_too);
    printf("%lx %lx %d\n", numbers[0], numbers[1], counter);
}

static int wanted;
static void *wants(void *unused) {
    wanted = 1;
    return unused;
}
static void *draws_if_wanted(void *unused) {
    if (wanted)
        numbers[0] = drawn();
    return unused;
}
// What is drawn in the order that was not recorded, nobody knows.
static void draws_more(void) {
    run(draws_if_wanted, wants);
    printf("%d\n", numbers[0] != 0);
}

static const struct {
    const char *name;
    void (*function)(void);
} modes[] = {
    {"same_numbers", same_numbers},
    {"numbers_and_count", numbers_and_count},
    {"draws_more", draws_more},
};

int main(int count, char **arguments) {
    for (size_t i = 0; count > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(arguments[1], modes[i].name) == 0)
            modes[i].function();
    return 0;
}
