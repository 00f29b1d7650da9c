// SPDX-License-Identifier: Apache-2.0
// A count that has reached zero is raised again by one who found the object a moment before.
// EXPECT: memory-error - A B
// MAY: data-race - A B, because the use and the free are not ordered either
// MAY: data-race - B C, because the last use and the free are not ordered either
// MAY: memory-error - B C, because it lets go of what is gone
// MAY: memory-error - B B, because the second one frees it again
// MAY: failure SIGABRT, because the allocator notices that
#include "together.h"
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(atomic_int *) users;

static void let_go(atomic_int *mine) {
    if (atomic_fetch_sub(mine, 1) == 1) // C
        free(mine);                     // B
}

static void *find(void *unused) {
    atomic_int *mine = atomic_load(&users);
    if (mine) {
        atomic_fetch_add(mine, 1); // A
        let_go(mine);
    }
    return unused;
}

static void *drop(void *unused) {
    let_go(atomic_exchange(&users, NULL));
    return unused;
}

int main(void) {
    atomic_int *made = malloc(sizeof *made);
    atomic_init(made, 1);
    atomic_store(&users, made);
    TOGETHER(find, drop);
    return 0;
}
