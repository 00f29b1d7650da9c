// SPDX-License-Identifier: Apache-2.0
// Cancellation in C++: destructors run, and handlers are objects.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string>

static sem_t ready, never;
static std::string said;

struct Says {
    const char *word;
    ~Says() {
        said += word;
    }
};

static void say(void *word) {
    said += (const char *)word;
}

static void __attribute__((noinline)) blocks() {
    Says inner{"inner "};
    sem_post(&ready);
    sem_wait(&never);
}

static void *run(void *) {
    Says outer{"outer "};
    pthread_cleanup_push(say, (void *)"handler ");
    try {
        blocks();
    } catch (...) {
        said += "caught ";
        throw;
    }
    pthread_cleanup_pop(0);
    return nullptr;
}

int main() {
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        said.clear();
        CHECK(pthread_create(&thread, nullptr, run, nullptr) == 0);
        sem_wait(&ready);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
        CHECK(said == "inner caught handler outer ");
    }
    return 0;
}
