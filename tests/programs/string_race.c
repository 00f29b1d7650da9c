// SPDX-License-Identifier: Apache-2.0
// One thread copies a name while another measures it.
// EXPECT: data-race name A B
#include "together.h"
#include <string.h>

static char name[32] = "ann";
static size_t length;

static void *change(void *unused) {
    strcpy(name, "christopher"); // A
    return unused;
}

static void *measure(void *unused) {
    length = strlen(name); // B
    return unused;
}

int main(void) {
    TOGETHER(change, measure);
    return 0;
}
