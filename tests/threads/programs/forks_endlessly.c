// SPDX-License-Identifier: Apache-2.0
// Each of its processes makes others for ever, each in a session of its own.
#include <unistd.h>

int main(void) {
    for (;;)
        if (fork() == 0)
            setsid();
}
