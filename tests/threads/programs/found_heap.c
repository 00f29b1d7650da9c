// SPDX-License-Identifier: Apache-2.0
// Blocks of the heap and other memory that comes and goes, used rightly and wrongly: one case a
// run.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t turn;
static char *block;
static volatile int passed; // between threads, in a way that orders nothing
static __thread volatile char sink;

static char *allocate(size_t size) {
    char *fresh = malloc(size);
    memset(fresh, 1, size);
    return fresh;
}

static void pass(int to) {
    __atomic_store_n(&passed, to, __ATOMIC_RELAXED);
}

static void await(int value) {
    while (__atomic_load_n(&passed, __ATOMIC_RELAXED) < value)
        ;
}

typedef void *function(void *);

static void both(function *one, function *other) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

// --- what is freed

static void *reads(void *unused) {
    sink = block[8];
    return unused;
}

static void *frees(void *unused) {
    free(block);
    return unused;
}

static void *reads_then_passes(void *unused) {
    sink = block[8];
    pass(1);
    return unused;
}

static void *frees_in_turn(void *unused) {
    await(1);
    free(block);
    return unused;
}

static void *frees_then_passes(void *unused) {
    free(block);
    pass(1);
    return unused;
}

static void *reads_in_turn(void *unused) {
    await(1);
    sink = block[8];
    return unused;
}

static void *grows_in_turn(void *unused) {
    await(1);
    block = realloc(block, 100000);
    return unused;
}

static void *posts(void *unused) {
    sink = block[8];
    sem_post(&turn);
    return unused;
}

static void *frees_when_posted(void *unused) {
    sem_wait(&turn);
    free(block);
    return unused;
}

static void *frees_then_posts(void *unused) {
    free(block);
    sem_post(&turn);
    return unused;
}

static void *reads_when_posted(void *unused) {
    sem_wait(&turn);
    sink = block[8];
    return unused;
}

static void *frees_when_posted_too(void *unused) {
    sem_wait(&turn);
    free(block);
    return unused;
}

static char *inside_of(char *start) {
    volatile size_t far = 8; // the compiler shall not see it
    return start + far;
}

// --- memory that is used again

static void *uses_and_frees(void *unused) {
    char *own = malloc(200);
    memset(own, 2, 200);
    free(own);
    pass(1);
    return unused;
}

static void *uses_the_same(void *unused) {
    await(1);
    char *own = malloc(200);
    own[100] = 3;
    sink = own[100];
    free(own);
    return unused;
}

static void *maps_and_unmaps(void *unused) {
    char *own = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(own, 2, 8192);
    __atomic_store_n(&block, own, __ATOMIC_RELAXED);
    munmap(own, 8192);
    pass(1);
    return unused;
}

static void *maps_the_same(void *unused) {
    await(1);
    char *own = mmap(__atomic_load_n(&block, __ATOMIC_RELAXED), 8192, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    own[4000] = 3;
    return unused;
}

static __thread char local[256];

static void *uses_stack_and_tls(void *unused) {
    char on_stack[256];
    memset(on_stack, 1, sizeof on_stack);
    memset(local, 1, sizeof local);
    sink = on_stack[9] + local[9];
    return unused;
}

static void churn(void) {
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_create(&thread, &attributes, uses_stack_and_tls, NULL);
        pthread_attr_destroy(&attributes);
    }
}

// A lock in a block orders nothing with a later block's lock at the same place.
static char shared_by_both;

static void lock_in_block(char *own) {
    pthread_mutex_t *inside = (pthread_mutex_t *)own;
    pthread_mutex_init(inside, NULL);
    pthread_mutex_lock(inside);
    shared_by_both++;
    pthread_mutex_unlock(inside);
}

static void *locks_and_frees(void *unused) {
    char *own = malloc(sizeof(pthread_mutex_t));
    lock_in_block(own);
    free(own);
    pass(1);
    return unused;
}

static void *locks_the_same(void *unused) {
    await(1);
    char *own = malloc(sizeof(pthread_mutex_t));
    lock_in_block(own);
    free(own);
    return unused;
}

// --- objects to synchronise with

static pthread_mutex_t inner;

static void *locks(void *unused) {
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pass(1);
    return unused;
}

static void *destroys_in_turn(void *unused) {
    await(1);
    pthread_mutex_destroy(&inner);
    return unused;
}

static sem_t gate;

static void *waits_then_passes(void *unused) {
    sem_wait(&gate);
    pass(1);
    return unused;
}

static void *destroys_gate_in_turn(void *unused) {
    await(1);
    sem_destroy(&gate);
    return unused;
}

static void *unlocks_in_block(void *unused) {
    pthread_mutex_lock((pthread_mutex_t *)block);
    pthread_mutex_unlock((pthread_mutex_t *)block);
    pass(1);
    return unused;
}

static void *counts(void *unused) {
    pthread_mutex_lock(&lock);
    sink = block[8];
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *leaves_a_barrier(void *barrier) {
    pthread_barrier_wait(barrier);
    return NULL;
}

static void destroy_a_barrier(void) {
    pthread_t threads[2];
    pthread_barrier_t *barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, leaves_a_barrier, barrier);
    pthread_barrier_wait(barrier);
    pthread_barrier_destroy(barrier);
    free(barrier);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

// A wake names an address, and touches nothing: who was waited for may free it at once.
static void *stores_then_wakes(void *unused) {
    int *word = (int *)block;
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

static void *frees_what_is_stored(void *unused) {
    int *word = (int *)block;
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    free(word);
    return unused;
}

// --- constants, which nobody writes until the program asks to

static const char constant[4096 * 2] = "a constant";
static const char *volatile known_as = constant;

static void *measures_constant(void *unused) {
    sink = (char)strlen(known_as);
    return unused;
}

static void *makes_it_writable_and_passes(void *unused) {
    char *page = (char *)((size_t)known_as & ~4095ul);
    mprotect(page, 4096 * 2, PROT_READ | PROT_WRITE);
    pass(1);
    return unused;
}

static void *measures_constant_in_turn(void *unused) {
    await(1);
    return measures_constant(unused);
}

static void *writes_what_was_constant(void *unused) {
    makes_it_writable_and_passes(unused);
    memset((char *)known_as, 0, 4);
    return unused;
}

static void one(const char *name) {
#define CASE(case_name, ...)                                                                       \
    if (strcmp(name, #case_name) == 0) {                                                           \
        __VA_ARGS__;                                                                               \
    }
    CASE(free_against_read, both(reads, frees))
    CASE(read_then_free, both(reads_then_passes, frees_in_turn))
    CASE(free_then_read, both(frees_then_passes, reads_in_turn))
    CASE(read_then_realloc, both(reads_then_passes, grows_in_turn))
    CASE(read_ordered_then_free, both(posts, frees_when_posted))
    CASE(use_after_free, both(frees_then_posts, reads_when_posted))
    CASE(use_after_free_by_itself, free(block); sink = block[8])
    CASE(double_free, both(frees_then_posts, frees_when_posted_too))
    CASE(free_inside, free(inside_of(block)))
    CASE(free_twice, free(block); free(block))
    CASE(block_again, both(uses_and_frees, uses_the_same))
    CASE(mapping_again, both(maps_and_unmaps, maps_the_same))
    CASE(stack_and_tls_again, churn())
    CASE(lock_again, both(locks_and_frees, locks_the_same))
    CASE(lock_against_destroy, both(locks, destroys_in_turn))
    CASE(wait_against_destroy, both(waits_then_passes, destroys_gate_in_turn))
    CASE(unlock_against_free, both(unlocks_in_block, frees_in_turn))
    CASE(under_a_lock, both(counts, counts); free(block))
    CASE(barrier_destroyed, destroy_a_barrier())
    CASE(constants, both(measures_constant, measures_constant))
    CASE(constant_made_writable, both(writes_what_was_constant, measures_constant_in_turn))
    CASE(freed_before_the_wake, both(stores_then_wakes, frees_what_is_stored))
}

int main(int count, char **arguments) {
    sem_init(&turn, 0, 0);
    sem_init(&gate, 0, 1);
    pthread_mutex_init(&inner, NULL);
    block = allocate(64);
    pthread_mutex_init((pthread_mutex_t *)block, NULL);
    one(count > 1 ? arguments[1] : "");
    return 0;
}
