// SPDX-License-Identifier: Apache-2.0
// Its constructor takes many steps, in which others could go on.
#include <dlfcn.h>

static volatile int steps;

__attribute__((constructor)) static void begin(void) {
    for (int i = 0; i < 3000; i++)
        steps++;
}

__attribute__((destructor)) static void end(void) {
    for (int i = 0; i < 3000; i++)
        steps--;
}

int library_steps(void) {
    return steps;
}
