// SPDX-License-Identifier: Apache-2.0
// A thread-local error code and a key with a destructor: nobody shares anything.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdlib.h>

static _Thread_local int last_error;
static pthread_key_t key;

static void fail(int code) {
    last_error = code;
}

static void work(int code) {
    pthread_setspecific(key, malloc(16));
    fail(code);
    assert(last_error == code);
}

static void *one(void *unused) {
    work(1);
    return unused;
}

static void *two(void *unused) {
    work(2);
    return unused;
}

int main(void) {
    pthread_key_create(&key, free);
    TOGETHER(one, two);
    assert(last_error == 0);
    return 0;
}
