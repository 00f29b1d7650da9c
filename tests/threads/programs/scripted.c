// SPDX-License-Identifier: Apache-2.0
// Threads that do what the argument says: their scripts, the first thread's first, with a slash
// between them. What is printed is the order of all `a`, by the letters of their threads.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST 4
static const char *scripts[MOST];
static pthread_t threads[MOST];
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static char told[64];
static atomic_int at;

static void *play(void *script);

static void act(char what, int which, char who) {
    switch (what) {
    case 'c': // create
        pthread_create(&threads[which], NULL, play, (void *)scripts[which]);
        break;
    case 'j': // join
        pthread_join(threads[which], NULL);
        break;
    case 'a': // an atomic operation
        told[atomic_fetch_add(&at, 1)] = who;
        break;
    case 'l':
        pthread_mutex_lock(&locks[which]);
        break;
    case 'u':
        pthread_mutex_unlock(&locks[which]);
        break;
    case 'w':
        sem_wait(&semaphore);
        break;
    case 'p':
        sem_post(&semaphore);
        break;
    case 'v': // wait for the condition, with lock 0
        pthread_cond_wait(&condition, &locks[0]);
        break;
    case 's':
        pthread_cond_signal(&condition);
        break;
    case 'b':
        pthread_barrier_wait(&barrier);
        break;
    default:
        break;
    }
}

static void *play(void *script) {
    int number = 0;
    while (scripts[number] != script)
        number++;
    for (const char *step = script; *step && *step != '/'; step += 2)
        act(step[0], step[1] - '0', (char)('A' + number));
    return NULL;
}

int main(int count, char **arguments) {
    const char *script = arguments[count - 1];
    for (int i = 0; i < MOST && script; i++) {
        scripts[i] = script;
        script = strchr(script, '/');
        script += script != NULL;
    }
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    play((void *)scripts[0]);
    puts(told);
    return 0;
}
