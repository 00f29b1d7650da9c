// SPDX-License-Identifier: Apache-2.0
// Threads that build binary trees, walk them, and free those that others have built.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, DEPTH = 9, WALKS = 2, BASKETS = 16 };

struct node {
    struct node *left, *right;
    long value;
};
static struct basket {
    pthread_mutex_t lock;
    struct node *tree;
} baskets[BASKETS];
static int rounds;

static struct node *grow(int depth) {
    struct node *node = malloc(sizeof *node);
    node->value = 1;
    node->left = depth ? grow(depth - 1) : NULL;
    node->right = depth ? grow(depth - 1) : NULL;
    return node;
}

static long walk(const struct node *node) {
    return node ? node->value + walk(node->left) + walk(node->right) : 0;
}

static void fell(struct node *node) {
    if (!node)
        return;
    fell(node->left);
    fell(node->right);
    free(node);
}

// Whose tree was there before depends on the order; what all of them count together does not.
static long exchange(struct basket *basket, struct node *tree) {
    pthread_mutex_lock(&basket->lock);
    struct node *old = basket->tree;
    basket->tree = tree;
    pthread_mutex_unlock(&basket->lock);
    long count = walk(old);
    fell(old);
    return count;
}

static void *work(void *argument) {
    unsigned long me = (unsigned long)(*(long *)argument);
    long count = 0;
    for (int i = 0; i < rounds; i++) {
        struct node *tree = grow(DEPTH);
        for (int walks = 0; walks < WALKS; walks++)
            if (walk(tree) != (2 << DEPTH) - 1)
                abort();
        count += exchange(&baskets[(me * 7 + (unsigned)i) % BASKETS], tree);
    }
    *(long *)argument = count;
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    long counts[THREADS], total = 0;
    rounds = count > 1 ? atoi(arguments[1]) : 100;
    for (int i = 0; i < BASKETS; i++)
        pthread_mutex_init(&baskets[i].lock, NULL);
    for (long i = 0; i < THREADS; i++) {
        counts[i] = i;
        pthread_create(&threads[i], NULL, work, &counts[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += counts[i];
    }
    for (int i = 0; i < BASKETS; i++)
        total += exchange(&baskets[i], NULL);
    printf("%ld\n", total);
    return 0;
}
