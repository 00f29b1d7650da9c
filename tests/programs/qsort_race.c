// SPDX-License-Identifier: Apache-2.0
// An array is sorted while another thread looks at its first element.
// EXPECT: data-race numbers A B
#include "together.h"
#include <stdlib.h>

static int numbers[4] = {4, 3, 2, 1};
static int first;

static int by_size(const void *one, const void *other) {
    return *(const int *)one - *(const int *)other;
}

static void *sort(void *unused) {
    qsort(numbers, 4, sizeof *numbers, by_size); // A
    return unused;
}

static void *look(void *unused) {
    first = numbers[0]; // B
    return unused;
}

int main(void) {
    TOGETHER(sort, look);
    return 0;
}
