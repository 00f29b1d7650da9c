// SPDX-License-Identifier: Apache-2.0
// Races to make branches of; the first argument says which.
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int shared, flag;

static void *add(void *unused) {
    shared++;
    return unused;
}

static void *after_a_lock(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    shared = 1;
    return unused;
}

static void *has_the_lock(void *unused) {
    pthread_mutex_lock(&lock);
    usleep(1);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *after_a_sleep(void *unused) {
    usleep(1000);
    shared = 2;
    return unused;
}

static void *tells(void *unused) {
    shared = 3;
    flag = 1;
    return unused;
}

static void *waits(void *unused) {
    while (!flag) {
    }
    shared = 4;
    return unused;
}

static void *naps(void *unused) {
    while (!flag)
        usleep(1);
    return unused;
}

static void *works_and_tells(void *unused) {
    static volatile unsigned long own[16];
    for (int i = 0; i < 2000000; i++)
        own[i % 16] += 1;
    return tells(unused);
}

static void *looks_at_clocks(void *unused) {
    struct timespec now;
    while (!flag) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        usleep(10);
    }
    shared = 4;
    return unused;
}

static void *sleeps_often(void *unused) {
    for (int i = 0; i < 30000; i++)
        usleep(1);
    shared = 4;
    return unused;
}

static void *ends(void *unused) {
    if (flag)
        shared = 5;
    return unused;
}

static void *tells_locked(void *unused) {
    pthread_mutex_lock(&lock);
    tells(NULL);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *blocks(void *unused) {
    if (!flag) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    shared = 6;
    return unused;
}

static void run(void *(*first)(void *), void *(*second)(void *), void *(*third)(void *)) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    if (third)
        pthread_create(&threads[2], NULL, third, NULL);
    for (int i = 0; i < (third ? 3 : 2); i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
    const char *which = count > 1 ? arguments[1] : "add";
    if (strcmp(which, "add") == 0)
        run(add, add, NULL);
    else if (strcmp(which, "third") == 0)
        run(add, after_a_lock, has_the_lock);
    else if (strcmp(which, "sleep") == 0)
        run(tells, after_a_sleep, NULL);
    else if (strcmp(which, "waits") == 0)
        run(tells, waits, NULL);
    else if (strcmp(which, "naps") == 0)
        run(tells, naps, NULL);
    else if (strcmp(which, "works, waits") == 0)
        run(works_and_tells, waits, NULL);
    else if (strcmp(which, "works, looks at clocks") == 0)
        run(works_and_tells, looks_at_clocks, NULL);
    else if (strcmp(which, "sleeps often") == 0)
        run(tells, sleeps_often, NULL);
    else if (strcmp(which, "ends") == 0)
        run(tells, ends, NULL);
    else if (strcmp(which, "blocks") == 0)
        run(tells_locked, blocks, NULL);
    else
        return 64;
    return 0;
}
