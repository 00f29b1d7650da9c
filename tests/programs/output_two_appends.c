// SPDX-License-Identifier: Apache-2.0
// Two threads append to one list without a lock: an item may be overwritten, or come second.
// EXPECT: data-race length A A
// EXPECT: data-race items A A
#include "together.h"
#include <stdio.h>

static char items[3];
static int length;

static void append(char item) {
    items[length] = item; // A
    length++;             // A
}

static void *one(void *unused) {
    append('a');
    return unused;
}

static void *other(void *unused) {
    append('b');
    return unused;
}

int main(void) {
    TOGETHER(one, other);
    puts(items);
    return 0;
}
