// SPDX-License-Identifier: Apache-2.0
// pthread_exit runs C++ destructors and cleanup handlers from the inside out, then thread_local
// objects, then keys; a catch (...) sees it and passes it on.
#include "check.h"

#include <pthread.h>
#include <string.h>

static char said[64];
static pthread_key_t key;

static void say(char letter) {
    size_t length = strlen(said);
    said[length] = letter;
}

struct Says {
    char letter;
    explicit Says(char which) : letter(which) {}
    ~Says() {
        say(letter);
    }
};

static thread_local Says last('t');

static void handler(void *letter) {
    say(*(char *)letter);
}

static void key_destructor(void *letter) {
    say(*(char *)letter);
}

static void __attribute__((noinline)) inner() {
    Says a('a');
    char b = 'b';
    pthread_cleanup_push(handler, &b);
    pthread_exit(said);
    pthread_cleanup_pop(0);
}

static void __attribute__((noinline)) outer() {
    Says d('d');
    try {
        inner();
    } catch (...) {
        say('c');
        throw;
    }
    say('!');
}

static void *run(void *) {
    static char k = 'k';
    char e = 'e';
    CHECK(pthread_setspecific(key, &k) == 0);
    last.letter = 't';
    pthread_cleanup_push(handler, &e);
    outer();
    pthread_cleanup_pop(0);
    return nullptr;
}

static void *throws_and_returns(void *) {
    for (int i = 0; i < 100; i++) {
        try {
            Says a('x');
            throw i;
        } catch (int caught) {
            CHECK(caught == i);
        }
        memset(said, 0, sizeof said);
    }
    return said;
}

int main() {
    pthread_t thread;
    void *result;
    CHECK(pthread_key_create(&key, key_destructor) == 0);
    for (int i = 0; i < 3; i++) {
        memset(said, 0, sizeof said);
        CHECK(pthread_create(&thread, nullptr, run, nullptr) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == said);
        CHECK(strcmp(said, "bacdetk") == 0);
        CHECK(pthread_create(&thread, nullptr, throws_and_returns, nullptr) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == said);
    }
    return 0;
}
