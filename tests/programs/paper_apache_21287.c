// SPDX-License-Identifier: Apache-2.0
// Apache 21287: lowering the count, looking at it and freeing are three steps, each atomic.
// EXPECT: memory-error - A B
// EXPECT: memory-error - B B
// MAY: data-race - A B, because the look and the free are not ordered either
// MAY: data-race - B B, for the same reason
// MAY: failure SIGABRT, because the allocator notices the second free
// MAY: atomicity -, because the three steps belong together
#include "together.h"
#include <stdatomic.h>
#include <stdlib.h>

static struct object {
    atomic_int refcount;
} *object;

static void lower(struct object *mine) {
    atomic_fetch_sub(&mine->refcount, 1);
}

static int is_unused(struct object *mine) {
    return atomic_load(&mine->refcount) == 0; // A
}

static void *decrement_refcount(void *unused) {
    lower(object);
    if (is_unused(object))
        free(object); // B
    return unused;
}

int main(void) {
    object = malloc(sizeof *object);
    atomic_init(&object->refcount, 2);
    TOGETHER(decrement_refcount, decrement_refcount);
    return 0;
}
