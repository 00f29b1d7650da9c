// SPDX-License-Identifier: Apache-2.0
// Two copies into one buffer that do not overlap.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <string.h>

static char buffer[64];

static void *fill_front(void *unused) {
    char part[32] = "front";
    memcpy(buffer, part, sizeof part);
    return unused;
}

static void *fill_back(void *unused) {
    char part[32] = "back";
    memcpy(buffer + 32, part, sizeof part);
    return unused;
}

int main(void) {
    TOGETHER(fill_front, fill_back);
    assert(strcmp(buffer, "front") == 0 && strcmp(buffer + 32, "back") == 0);
    return 0;
}
