// SPDX-License-Identifier: Apache-2.0
// Starts one thread for each function and waits for all of them.
#ifndef TOGETHER_H
#define TOGETHER_H

#include <pthread.h>
#include <stddef.h>

typedef void *(*together_body)(void *);

#define TOGETHER(...) together((together_body[]){__VA_ARGS__, NULL})

static inline void together(const together_body *bodies) {
    pthread_t threads[8];
    size_t count = 0;
    for (; bodies[count]; count++)
        pthread_create(&threads[count], NULL, bodies[count], NULL);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

#endif
