// SPDX-License-Identifier: Apache-2.0
// Hand over hand: threads walk a list, holding one node until they have the next, and change it.
#include "team.h"

#define NODES 12
static struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
} *first;

static void insert_sorted(int value) {
    struct node *made = calloc(1, sizeof *made);
    made->value = value;
    pthread_mutex_init(&made->lock, NULL);
    struct node *before = first;
    pthread_mutex_lock(&before->lock);
    for (struct node *after; (after = before->next); before = after) {
        pthread_mutex_lock(&after->lock);
        if (after->value > value) {
            pthread_mutex_unlock(&after->lock);
            break;
        }
        pthread_mutex_unlock(&before->lock);
    }
    made->next = before->next;
    before->next = made;
    pthread_mutex_unlock(&before->lock);
}

static int remove_first(void) {
    pthread_mutex_lock(&first->lock);
    struct node *gone = first->next;
    int value = -1;
    if (gone) {
        pthread_mutex_lock(&gone->lock);
        first->next = gone->next;
        value = gone->value;
        pthread_mutex_unlock(&gone->lock);
    }
    pthread_mutex_unlock(&first->lock);
    if (gone) {
        CHECK(pthread_mutex_destroy(&gone->lock) == 0);
        free(gone);
    }
    return value;
}

static void *inserts(void *number) {
    for (int i = 0; i < NODES; i++)
        insert_sorted((int)(i * 10 + number_of(number)));
    return NULL;
}

static int removed;

static void *removes(void *number) {
    for (int i = 0; i < NODES; i++)
        __atomic_fetch_add(&removed, remove_first() >= 0, __ATOMIC_RELAXED);
    return number;
}

int main(void) {
    first = calloc(1, sizeof *first);
    first->value = -1;
    pthread_mutex_init(&first->lock, NULL);
    run_team(4, inserts);
    int last = -1, count = 0;
    for (struct node *node = first->next; node; node = node->next, count++) {
        CHECK(node->value >= last);
        last = node->value;
    }
    CHECK(count == 4 * NODES);
    run_team(4, removes);
    CHECK(removed == 4 * NODES && remove_first() == -1);
    free(first);
    return 0;
}
