// SPDX-License-Identifier: Apache-2.0
// A race on each sort of memory that can have a name, the one that is asked for.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct queue {
    int head, tail;
    struct {
        char letter;
        long counts[3];
    } inner;
};

static struct queue queue;
static struct queue queues[3];
static __thread int own;
static pthread_mutex_t made;
static int *shared;
static int *volatile place;

static void *change(void *unused) {
    ++*place;
    return unused;
}

static void race_on(int *memory) {
    pthread_t thread;
    place = memory;
    pthread_create(&thread, NULL, change, NULL);
    pthread_mutex_lock(&made);
    ++*memory;
    pthread_mutex_unlock(&made);
    pthread_join(thread, NULL);
}

static void on_stack(void) {
    int before = 1, total = 0, after[8] = {before};
    race_on(&total);
    after[total & 7] = total;
    place = after;
}

static void *lend(void *unused) {
    int lent = 0;
    race_on(&lent);
    return unused;
}

static void *own_alone(void *unused) {
    int kept = 0;
    place = &kept;
    pthread_mutex_lock(&made);
    pthread_mutex_unlock(&made);
    return unused;
}

static void run_alone(void *(*function)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

static void on_heap(void) {
    shared = calloc(16, sizeof *shared);
    race_on(&shared[3]);
    free(shared);
}

extern struct queue declared;
struct queue declared;

static void on_signal(int unused) {
    (void)unused;
    ++*place;
}

static void *raises(void *unused) {
    raise(SIGUSR1);
    return unused;
}

static void in_handler(void) {
    pthread_t thread;
    signal(SIGUSR1, on_signal);
    place = &queue.head;
    pthread_create(&thread, NULL, raises, NULL);
    ++queue.head;
    pthread_join(thread, NULL);
}

static void in_frame(void) {
    struct queue lines[2] = {{0}};
    race_on((int *)&lines[1].inner.counts[2]);
}

__attribute__((always_inline)) static inline void in_inlined(void) {
    struct queue mine = {0};
    race_on(&mine.tail);
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    pthread_mutex_init(&made, NULL);
    if (strcmp(way, "field") == 0)
        race_on(&queue.tail);
    if (strcmp(way, "inner") == 0)
        race_on((int *)&queues[1].inner.counts[2]);
    if (strcmp(way, "declared") == 0)
        race_on(&declared.tail);
    if (strcmp(way, "handler") == 0)
        in_handler();
    if (strcmp(way, "thread-local") == 0)
        race_on(&own);
    if (strcmp(way, "stack") == 0)
        on_stack();
    if (strcmp(way, "stack-field") == 0)
        in_frame();
    if (strcmp(way, "inlined-field") == 0)
        in_inlined();
    if (strcmp(way, "heap") == 0)
        on_heap();
    if (strcmp(way, "thread-stack") == 0) {
        run_alone(own_alone);
        run_alone(lend);
    }
    return 0;
}
